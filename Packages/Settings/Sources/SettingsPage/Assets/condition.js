// What is wrong with a suite, and what was quarantined in it.

import { ask } from "./server.js";
import { draftOf, setDraft } from "./drafts.js";
import { date, element, foreign, formNames, plain, preview } from "./text.js";

export class Condition {
  element = element("div", { class: "condition", hidden: true });
  // The labels alone, beside the name.
  summary = element("p", { class: "summary" });
  #suite;
  #isWritable;
  #shown = "";

  constructor(suite, isWritable) {
    this.#suite = suite;
    this.#isWritable = isWritable;
  }

  async refresh() {
    let found;
    try {
      found = await ask("condition", { suite: this.#suite });
    } catch {
      // The stream of changes says whether the server is there.
      return;
    }
    const drafts = found.quarantined.map(({ row }) => [draftOf(row.key)?.action, draftOf(`${row.key}.quarantine`)?.action]);
    const state = JSON.stringify([found, drafts]);
    if (state === this.#shown) return;
    this.#shown = state;
    const told = found.notes.filter((note) => note.label !== "Journal");
    this.summary.replaceChildren(...told.map((note) => element("span", { class: `note ${note.level}`, title: plain(note.text, 1000) }, foreign(note.label))),
      ...(found.quarantined.length > 0 ? [element("span", { class: "note warning" }, "Quarantine")] : []));
    const focused = document.activeElement?.dataset.action;
    this.element.replaceChildren(
      element("h2", {}, "Condition"),
      element("ul", { class: "notes" }, found.notes.map((note) => element(
        "li", {}, element("span", { class: `note ${note.level}` }, foreign(note.label)), " ", foreign(note.text)))),
      element("h2", {}, "Quarantine"),
      found.quarantined.length === 0
        ? element("p", { class: "faint" }, "Nothing. When a program can't use a value and replaces it, the value is kept here.")
        : element("ul", { class: "quarantine" }, found.quarantined.map((value, index) => this.#quarantined(value, found.quarantined[index - 1]))),
    );
    if (focused) this.element.querySelector(`[data-action="${CSS.escape(focused)}"]`)?.focus();
  }

  // The values of a key come newest first; the newest can be restored, and all of them discarded.
  #quarantined({ row, date: time, typeName, version }, before) {
    const isNewest = before?.row.key !== row.key;
    const companion = `${row.key}.quarantine`;
    const draft = (key, action) => () => {
      setDraft(key, { action, expected: version, old: row });
      this.refresh();
    };
    const button = (key, action, label) => draftOf(key)?.action === action
      ? element("span", { class: "mark" }, "not stored yet")
      : element("button", { "data-action": `${action} ${row.key}`, onclick: draft(key, action) }, label, element("span", { class: "unseen" }, ` ${plain(row.key)}`));
    return element(
      "li", {},
      element("p", {}, element("strong", {}, foreign(row.key, { limit: 200 })), " ", element("span", { class: "faint" }, formNames[row.form])),
      element("p", {}, preview(row)),
      element("p", { class: "faint" }, "Replaced ", date(time), ", since it could not be used as ", foreign(typeName), "."),
      this.#isWritable && isNewest ? element("p", { class: "pending" },
        button(row.key, "restore", "Restore"), button(companion, "remove", "Discard")) : null,
    );
  }
}
