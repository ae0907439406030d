// The list of suites.

import { ask, repeat, showConnection } from "./server.js";
import { ago, date, element, foreign, number, plain, size } from "./text.js";

export async function showHome(main) {
  const search = element("input", { type: "search", "aria-label": "Search suites", placeholder: "Search", oninput: render });
  const count = element("p", { class: "faint", role: "status" });
  const body = element("tbody");
  const table = element(
    "table", { class: "suites" },
    element("caption", { class: "unseen" }, "Suites"),
    element("thead", {}, element("tr", {}, ["Name", "Keys", "Size", "Last change", "State"].map((name) => element("th", { scope: "col" }, name)))),
    body,
  );
  const notice = element("p", { class: "problem", role: "alert" });
  let suites;
  let shown = "";

  function render() {
    if (!suites) return;
    const wanted = search.value.toLowerCase();
    const found = suites.filter((suite) => suite.name.toLowerCase().includes(wanted));
    // Nothing is replaced under a finger, or under a screen reader, unless something has changed.
    const state = JSON.stringify([found, found.map((suite) => suite.lastChange && ago(suite.lastChange))]);
    if (state === shown) return;
    shown = state;
    const focused = document.activeElement?.dataset.suite;
    body.replaceChildren(...found.map(row));
    if (focused !== undefined) body.querySelectorAll("a").forEach((link) => link.dataset.suite === focused && link.focus());
    table.hidden = found.length === 0;
    count.textContent =
      suites.length === 0 ? "No program has stored settings in the directory for configuration yet."
      : found.length === 0 ? `No suite has “${plain(search.value)}” in its name.`
      : found.length === suites.length ? "" : `${number(found.length)} of ${number(suites.length)} suites`;
  }

  function row(suite) {
    const canOpen = !suite.id.startsWith("\0");
    const name = foreign(suite.name, { limit: 200 });
    return element(
      "tr", {},
      element("th", { scope: "row" }, canOpen
        ? element("a", { href: `#suite=${encodeURIComponent(suite.id)}`, "data-suite": suite.id }, name) : name),
      element("td", { "data-label": "Keys" }, suite.keyCount === undefined ? "–" : number(suite.keyCount)),
      element("td", { "data-label": "Size" }, suite.size === undefined ? "–" : size(suite.size)),
      element("td", { "data-label": "Last change" }, suite.lastChange === undefined ? "–"
        : element("span", { title: date(suite.lastChange) }, ago(suite.lastChange))),
      element("td", {}, suite.notes.map((note) => element("span", { class: `note ${note.level}`, title: plain(note.text, 1000) }, foreign(note.label)))),
    );
  }

  async function refresh() {
    try {
      const answer = await ask("suites");
      suites = answer.suites;
      showMode(answer.isWritable);
      showConnection(true);
      notice.textContent = "";
      render();
    } catch (error) {
      showConnection(false, error.status === 403 ? "The server was started again: open the address that it printed." : undefined);
      if (!suites) notice.replaceChildren(foreign(error.message));
    }
  }

  main.replaceChildren(element("div", { class: "tools" }, search), notice, count, table);
  return repeat(1, refresh);
}

export function showMode(isWritable) {
  document.getElementById("mode").textContent = isWritable ? "" : "Read only";
}
