// A value in full: as a tree, as text, as a picture or as bytes, and what changes it.

import { ask, picture } from "./server.js";
import { draftOf, setDraft } from "./drafts.js";
import { editor } from "./editor.js";
import { element, foreign, formNames, number, preview, size } from "./text.js";

export async function showDetail(place, { suite, key, row, isWritable, onClose, keepsFocus }) {
  const heading = element("h2", { tabindex: "-1" }, foreign(key, { limit: 500 }));
  if (key.length > 500) {
    heading.append(" ", element("button", { onclick: (event) => {
      event.target.remove();
      heading.replaceChildren(foreign(key));
    } }, `Show all ${number(key.length)} characters`));
  }
  const body = element("div");
  const head = element("div", { class: "detail-head" }, heading, element("button", { onclick: onClose, "aria-label": "Close the value" }, "Close"));

  let value;
  let failure;
  try {
    value = await ask("value", { suite, key });
  } catch (error) {
    failure = error;
  }
  if (failure) {
    body.append(element("p", { class: "faint" }, foreign(failure.message)));
  } else {
    body.append(
      element("p", { class: "faint" }, formNames[value.form], ", ", size(value.size), value.version || value.origins ? "" : ", not stored: what programs use by default"),
      value.origins ? element("ul", { class: "origins", "aria-label": "Where it comes from" }, value.origins.map(({ text, preview: hidden }) =>
        element("li", {}, foreign(text), hidden ? [": ", foreign(hidden)] : null))) : "",
      value.form === "image" ? view({ suite, key }, [], value) : "",
      value.edit && isWritable && value.form !== "image" ? editing(key, value, row) : "",
      isWritable && !value.edit ? element("p", { class: "faint" }, value.isHidden
        ? "What is hidden can't be edited." : "This value is too large to be edited here, or of a kind that can't be. “settings write” replaces it.") : "",
      value.form === "image" || isShownByEditor(value, isWritable) ? "" : view({ suite, key }, [], value),
      isWritable && value.version ? element("p", {}, element("button", { class: "danger", onclick: () => setDraft(key, { action: "remove", expected: value.version, old: row }) }, "Remove this key")) : "",
    );
  }
  const focused = place.contains(document.activeElement) || !keepsFocus;
  place.replaceChildren(head, body);
  if (focused) heading.focus();
}

// A field shows a plain value as well as anything does.
const isShownByEditor = (value, isWritable) => isWritable && value.edit && ["boolean", "integer", "unsigned", "real", "date", "string"].includes(value.form);

function editing(key, value, row) {
  const draft = draftOf(key);
  return editor(draft?.action === "set" ? draft.value : value.edit, (edited) => {
    const isSame = edited.form === value.edit.form && edited.text === value.edit.text;
    // What a draft expects may be newer than what was shown when the field was opened.
    const current = draftOf(key);
    const expected = current?.action === "set" ? current.expected : value.version ?? null;
    setDraft(key, isSame ? undefined : { action: "set", value: edited, expected, old: row });
  });
}

// A value or a part of one; `path` leads to it, and what isn't there yet is loaded when it is opened.
function view(request, path, value) {
  if (value.children) return tree(request, path, value);
  if (value.form === "image") return image(request, value);
  if (value.hexadecimal !== undefined) return parts(request, path, value, (part) => part.hexadecimal + "\n", "bytes");
  if (value.form === "date") return element("p", {}, preview({ form: "date", preview: value.text }));
  return parts(request, path, value, (part) => part.text, "bytes of text");
}

function parts(request, path, value, textOf, unit) {
  const text = element("div", { class: value.hexadecimal === undefined ? "content" : "content bytes", tabindex: "0", role: "group", "aria-label": "Content" });
  const more = element("button", { onclick: load });
  let next = value.next;

  function append(part) {
    text.append(foreign(textOf(part), { lines: true }));
    more.textContent = `Show more: ${number(next ?? 0)} of ${number(value.total)} ${unit} are shown`;
    more.hidden = next === undefined || next === null;
  }

  async function load() {
    const part = await ask("value", { ...request, path, offset: next });
    next = part.next;
    append(part);
  }

  append(value);
  return element("div", {}, text, more);
}

function image(request, value) {
  const place = element("p", { class: "faint" }, "Loading the picture…");
  picture(request).then((source) => {
    const shown = element("img", { alt: "The picture that is stored" });
    shown.src = source;
    place.replaceWith(shown);
  }).catch((error) => place.replaceChildren(foreign(error.message)));
  return element("div", { class: "picture" }, place, parts(request, [], value, (part) => part.hexadecimal + "\n", "bytes"));
}

function tree(request, path, value) {
  const list = element("ul", { class: "tree" });
  const more = element("button", { onclick: load });
  let next = value.next;
  let count = 0;

  function append(part) {
    for (const child of part.children) {
      list.append(node(request, [...path, count], child));
      count += 1;
    }
    more.textContent = `Show more: ${number(count)} of ${number(value.total)} are shown`;
    more.hidden = next === undefined || next === null;
  }

  async function load() {
    const part = await ask("value", { ...request, path, offset: next });
    next = part.next;
    append(part);
  }

  append(value);
  if (value.total === 0) list.append(element("li", { class: "faint" }, "empty"));
  return element("div", {}, list, more);
}

// What has parts, or more text than a line, can be opened.
function node(request, path, child) {
  const name = element("span", { class: "name" }, foreign(child.name, { limit: 200 }));
  const begin = preview(child);
  if (!(child.count > 0) && !child.isCut) return element("li", {}, name, " ", begin);
  const content = element("div");
  const details = element("details", {}, element("summary", {}, name, " ",
    element("span", { class: "faint" }, child.count > 0 ? `${formNames[child.form]} of ${number(child.count)}` : ""), " ", begin), content);
  details.addEventListener("toggle", async () => {
    if (!details.open || content.hasChildNodes()) return;
    content.append("Loading…");
    try {
      content.replaceChildren(view(request, path, await ask("value", { ...request, path })));
    } catch (error) {
      content.replaceChildren(foreign(error.message));
    }
  });
  return element("li", {}, details);
}
