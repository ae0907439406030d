// Changes that are not stored yet, and the bar that stores them together.

import { ask } from "./server.js";
import { announce, element, foreign, formNames, plain, preview } from "./text.js";

const bar = document.getElementById("bar");
const drafts = new Map();
let removed = [];
let suite;
let onChange = () => {};
let message;

export const hasDrafts = () => drafts.size > 0;
export const draftKeys = () => [...drafts.keys()];
export const draftOf = (key) => drafts.get(key);

// Begins with another suite. Its drafts are gone with it.
export function beginDrafts(newSuite, newOnChange) {
  suite = newSuite;
  onChange = newOnChange;
  message = undefined;
  removed = [];
  drafts.clear();
  render();
}

export function endDrafts() {
  beginDrafts(undefined, () => {});
}

// A draft is { action: "set", "remove" or "restore", value: { form, text, isQuoted }, expected, old: the row that was shown }.
export function setDraft(key, draft) {
  if (draft) drafts.set(key, draft);
  else drafts.delete(key);
  message = undefined;
  render();
  onChange(key);
}

// What a draft would make of its key, in some words.
export function describe(draft) {
  if (draft.action === "remove") return "removed";
  if (draft.action === "restore") return "restored from the quarantine";
  return foreign(draft.value.text, { limit: 100 });
}

function render() {
  const count = drafts.size;
  bar.hidden = count === 0 && removed.length === 0 && !message;
  bar.replaceChildren();
  if (bar.hidden) return;
  bar.append(element(
    "section", { "aria-label": "Changes" },
    message ? element("p", { class: `outcome ${message.outcome}`, role: message.outcome === "stored" ? "status" : "alert" }, foreign(message.text)) : null,
    removed.length > 0 ? element("ul", { class: "removed" }, removed.slice(-20).map((undo) => element(
      "li", {}, foreign(undo.key, { limit: 60 }), " is removed. ",
      element("button", { onclick: () => bringBack(undo) }, "Undo", element("span", { class: "unseen" }, ` the removal of ${plain(undo.key)}`)),
    ))) : null,
    count > 0 ? element(
      "div", { class: "pending" },
      element("p", {}, count === 1 ? "One change, not stored yet" : `${count} changes, not stored yet`),
      element("button", { onclick: review }, "Review…"),
      element("button", { onclick: discard }, "Discard"),
      element("button", { class: "main", onclick: () => store() }, count === 1 ? "Store" : "Store all"),
    ) : null,
  ));
}

function discard() {
  const keys = [...drafts.keys()];
  drafts.clear();
  message = undefined;
  render();
  keys.forEach(onChange);
}

// Stores all drafts as one transaction. A draft that is made or changed before the answer is here stays one.
async function store() {
  const sent = new Map(drafts);
  const edits = [...sent].map(([key, draft]) => ({ key, action: draft.action, value: draft.value, expected: draft.expected }));
  await send("edit", { suite, edits }, (result) => {
    for (const { key, version } of result.versions) {
      const draft = drafts.get(key);
      if (draft === sent.get(key)) drafts.delete(key);
      // What it replaces is what was just stored, not someone else's change.
      else if (draft && draft.action !== "restore") draft.expected = version ?? null;
    }
    removed.push(...result.undo);
    edits.forEach((edit) => onChange(edit.key));
  });
}

async function bringBack(undo) {
  await send("undo", { suite, token: undo.token }, () => {
    removed = removed.filter((other) => other !== undo);
  }, () => `Something else is stored for ${plain(undo.key)} by now. Remove that first.`);
}

async function send(name, body, onStored, explainConflict) {
  let result;
  try {
    result = await ask(name, body);
  } catch (error) {
    result = { outcome: "unknown", message: error.status === 0 ? `${error.message} Whether the changes are stored is not known; look when it is back.` : error.message, conflicts: [] };
    if (error.status > 0) result.outcome = "refused";
  }
  // The person has gone to another suite.
  if (body.suite !== suite) return;
  message = { outcome: result.outcome, text: result.message };
  if (result.outcome === "stored") onStored(result);
  if (result.conflicts.length > 0 && explainConflict) message.text = explainConflict();
  render();
  announce(message.text);
  if (result.conflicts.length > 0 && !explainConflict) choose(result.conflicts);
}

function dialog(title, ...children) {
  const made = element("dialog", { "aria-label": title }, element("h2", {}, title), children);
  made.addEventListener("close", () => made.remove());
  document.body.append(made);
  made.showModal();
  return made;
}

function review() {
  const made = dialog(
    "Changes that are not stored yet",
    element("ul", { class: "review" }, [...drafts].map(([key, draft]) => element(
      "li", {}, element("strong", {}, foreign(key, { limit: 200 })), element("br"),
      draft.old ? preview(draft.old) : element("span", { class: "faint" }, "nothing stored"), " → ", describe(draft), " ",
      element("button", { onclick: (event) => { setDraft(key); event.target.closest("li").remove(); if (!hasDrafts()) made.close(); } },
        "Leave it", element("span", { class: "unseen" }, ` – ${plain(key)}`)),
    ))),
    element("div", { class: "pending" },
      element("button", { onclick: () => made.close() }, "Back"),
      element("button", { class: "main", onclick: () => { made.close(); store(); } }, "Store")),
  );
}

// Both values are shown, and the person chooses.
function choose(conflicts) {
  const made = dialog(
    "Changed by someone else",
    element("p", {}, "Nothing was stored yet. These values are no longer what was shown when you changed them:"),
    conflicts.map((conflict, index) => {
      const draft = drafts.get(conflict.key);
      const option = (value, label, ...shown) => element(
        "label", {}, element("input", { type: "radio", name: `choice${index}`, value, checked: value === "theirs" }), " ", label, ": ", shown);
      return element(
        "fieldset", {}, element("legend", {}, foreign(conflict.key, { limit: 200 })),
        option("theirs", "Keep what is stored now", conflict.current ? preview(conflict.current) : element("span", { class: "faint" }, "nothing")),
        option("mine", "Store yours", draft ? describe(draft) : "", draft?.value ? ` (${formNames[draft.value.form]})` : ""),
      );
    }),
    element("div", { class: "pending" },
      element("button", { onclick: () => made.close() }, "Back"),
      element("button", { class: "main", onclick: () => {
        conflicts.forEach((conflict, index) => {
          const isMine = made.querySelector(`input[name=choice${index}][value=mine]`).checked;
          const draft = drafts.get(conflict.key);
          if (isMine && draft) draft.expected = conflict.version ?? null;
          else setDraft(conflict.key);
        });
        made.close();
        if (hasDrafts()) store();
      } }, "Continue")),
  );
}
