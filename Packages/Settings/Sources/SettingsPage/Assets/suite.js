// A suite: its keys, what changes, and its condition.

import { ask, listen, repeat, showConnection } from "./server.js";
import { beginDrafts, describe, draftKeys, draftOf, endDrafts, setDraft } from "./drafts.js";
import { Condition } from "./condition.js";
import { showDetail } from "./detail.js";
import { newKey } from "./editor.js";
import { List } from "./list.js";
import { showMode } from "./home.js";
import { announce, element, foreign, number, plain, preview, time } from "./text.js";

// How long a change is marked, in milliseconds.
const markTime = 6000;
// How many changes are listed.
const logLimit = 200;

export async function showSuite(main, suite) {
  const { isWritable } = await ask("suites");
  let snapshot = await ask("open", { suite });
  let rows = new Map(snapshot.rows.map((row) => [row.key, row]));
  let texts = new Map();
  let position = snapshot.position;
  snapshot = undefined;
  showMode(isWritable);

  // What was there before, by the keys that have changed just now.
  const changed = new Map();
  const log = [];
  let selected;
  let endListening = () => {};

  // MARK: The list

  const list = new List({
    rowOf: (key) => rows.get(key) ?? (changed.has(key) ? undefined : draftOf(key)?.old),
    noteOf,
    onOpen: open,
  });
  const search = element("input", { type: "search", "aria-label": "Search keys and values", placeholder: "Search keys and values", oninput: filter, "aria-keyshortcuts": "/" });
  const count = element("span", { class: "faint", role: "status" });
  const detail = element("section", { class: "detail", hidden: true, "aria-label": "Value" });

  function noteOf(key) {
    const draft = draftOf(key);
    if (draft) return { class: "draft", label: "not stored yet", after: [" → ", describe(draft)] };
    if (changed.has(key)) {
      const old = changed.get(key);
      if (!rows.has(key)) return { class: "gone", label: "removed", before: element("span", { class: "was" }, "was ", old ? preview(old) : "") };
      return { class: "changed", label: old ? "changed" : "new", before: old ? element("span", { class: "was" }, "was ", preview(old), " · now ") : null };
    }
    const row = rows.get(key);
    if (row?.origin) return { class: "declared", label: row.origin, before: null };
    return row && !row.version ? { class: "declared", label: "by default", before: null } : undefined;
  }

  // What is searched in a row.
  function textOf(key) {
    let text = texts.get(key);
    if (text === undefined) {
      text = `${key}\n${rows.get(key)?.preview ?? ""}`.toLowerCase();
      texts.set(key, text);
    }
    return text;
  }

  function filter() {
    const wanted = search.value.toLowerCase();
    // Those that were just removed, and those that are not stored yet, are shown as well.
    const others = [...changed.keys(), ...draftKeys()].filter((key) => !rows.has(key));
    const all = [...new Set([...rows.keys(), ...others])];
    const found = wanted === "" ? all : all.filter((key) => textOf(key).includes(wanted));
    found.sort((one, two) => (one < two ? -1 : one > two ? 1 : 0));
    list.setKeys(found);
    count.textContent = wanted === "" ? `${number(rows.size)} keys` : `${number(found.length)} of ${number(rows.size)} keys`;
    list.element.hidden = found.length === 0;
    empty.hidden = found.length > 0;
    empty.textContent = rows.size === 0 ? "Nothing is stored in this suite." : "No key and no value has this text. Values are searched as far as the list shows them.";
  }

  const empty = element("p", { class: "faint", hidden: true });

  // MARK: A value

  async function open(key, { keepsFocus = false } = {}) {
    selected = key;
    list.selected = key;
    detail.hidden = false;
    layout.classList.add("open");
    await showDetail(detail, { suite, key, row: rows.get(key), isWritable, onClose: close, keepsFocus });
    list.update();
  }

  function close() {
    selected = undefined;
    list.selected = undefined;
    detail.hidden = true;
    detail.replaceChildren();
    layout.classList.remove("open");
    list.update();
    list.focus();
  }

  // MARK: Changes

  function onEvent(event) {
    for (const { key, old, new: row } of event.changes) {
      if (row) rows.set(key, row);
      else rows.delete(key);
      texts.delete(key);
      mark(key, old);
      log.unshift({ date: event.date, key, old, row });
    }
    log.splice(logLimit);
    const [first] = event.changes;
    announce(event.changes.length > 1 ? `${event.changes.length} values have changed.`
      : !first.new ? `${plain(first.key)} was removed.`
      : `${plain(first.key)} is now ${plain(first.new.preview)}${first.old ? `, and was ${plain(first.old.preview)}` : ""}.`);
    showChanges();
  }

  function mark(key, old) {
    const mine = old ?? null;
    changed.set(key, mine);
    setTimeout(() => {
      // Not if it has changed again since.
      if (changed.get(key) !== mine) return;
      changed.delete(key);
      if (rows.has(key)) list.update();
      else filter();
    }, markTime);
  }

  function showChanges() {
    filter();
    renderLog();
    const key = selected;
    // What a person is editing stays; the list, and the choice when it is stored, say what is there now.
    if (key !== undefined && changed.has(key) && !draftOf(key)) open(key, { keepsFocus: true });
  }

  // Everything again: what differs from what was shown was missed.
  async function reload() {
    let fresh;
    try {
      fresh = await ask("open", { suite });
    } catch (error) {
      showConnection(false, error.status > 0 ? error.message : undefined);
      endListening = restart(setTimeout(reload, 1000));
      return;
    }
    const now = new Map(fresh.rows.map((row) => [row.key, row]));
    // Versions are those of one process of the server; what is shown is not.
    const face = (row) => row && JSON.stringify([row.form, row.size, row.preview, row.isCut, row.isHidden]);
    const missed = [...new Set([...rows.keys(), ...now.keys()])].filter((key) => face(rows.get(key)) !== face(now.get(key)));
    for (const key of missed) {
      mark(key, rows.get(key));
      log.unshift({ date: Date.now(), key, old: rows.get(key), row: now.get(key) });
    }
    log.splice(logLimit);
    for (const [key, row] of now) {
      const draft = draftOf(key);
      // A draft of a value that is still what was shown is as good as before.
      if (draft && draft.action !== "restore" && !missed.includes(key)) draft.expected = row.version ?? null;
    }
    rows = now;
    texts = new Map();
    position = fresh.position;
    if (missed.length > 0) announce(`${missed.length} values have changed while the connection was lost.`);
    showChanges();
    start();
  }

  const restart = (timer) => () => clearTimeout(timer);

  function start() {
    endListening();
    endListening = listen(suite, position, { onEvent, onReload: reload });
  }

  // MARK: The log

  const logList = element("ol", { class: "log" });

  function renderLog() {
    if (logPanel.hidden) return;
    logList.replaceChildren(...log.map((entry) => element(
      "li", {}, element("time", {}, time(entry.date)), " ", element("strong", {}, foreign(entry.key, { limit: 200 })), " ",
      entry.old ? element("span", { class: "was" }, preview(entry.old)) : element("span", { class: "faint" }, "nothing"), " → ",
      entry.row ? preview(entry.row) : element("span", { class: "faint" }, "removed"),
    )));
    if (log.length === 0) logList.replaceChildren(element("li", { class: "faint" }, "Nothing has changed since this page was opened."));
  }

  // MARK: Panels

  const condition = new Condition(suite, isWritable);
  const layout = element("div", { class: "layout" }, element("div", { class: "keys" }, list.element, empty), detail);
  const keysPanel = element("div", {}, layout);
  const logPanel = element("div", { hidden: true }, logList);
  const panels = { Keys: keysPanel, Changes: logPanel, Condition: condition.element };
  const tabs = element("nav", { class: "tabs", "aria-label": "Views" }, Object.keys(panels).map((name) => element(
    "button", { "aria-pressed": name === "Keys" ? "true" : "false", onclick: () => select(name) }, name)));

  function select(name) {
    for (const [other, panel] of Object.entries(panels)) panel.hidden = other !== name;
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", tab.textContent.startsWith(name) ? "true" : "false");
    tools.hidden = name !== "Keys";
    renderLog();
    if (name === "Keys") list.update();
  }

  const add = isWritable ? element("button", { onclick: async () => {
    const made = await newKey((key) => rows.has(key));
    if (!made) return;
    setDraft(made.key, { action: "set", value: made.value, expected: null });
    announce(`${plain(made.key)} is not stored yet.`);
  } }, "New key…") : null;
  const tools = element("div", { class: "tools" }, search, count, add);

  function onKey(event) {
    const isTyping = event.target.closest("input, textarea, select, dialog");
    if (event.key === "/" && !isTyping) {
      search.focus();
      event.preventDefault();
    } else if (event.key === "Escape" && selected !== undefined && !event.target.closest("dialog")) {
      close();
    } else if (event.key === "ArrowDown" && event.target === search) {
      list.focus();
      event.preventDefault();
    }
  }

  document.addEventListener("keydown", onKey);
  beginDrafts(suite, (key) => {
    filter();
    // A draft that was discarded leaves the field as it was.
    if (key === selected && !draftOf(key) && rows.has(key)) open(key, { keepsFocus: true });
  });
  main.replaceChildren(element("div", { class: "top" }, tabs, condition.summary), tools, ...Object.values(panels));
  filter();
  start();
  const endLooking = repeat(2, () => condition.refresh());
  return () => {
    endLooking();
    endListening();
    document.removeEventListener("keydown", onKey);
    endDrafts();
  };
}
