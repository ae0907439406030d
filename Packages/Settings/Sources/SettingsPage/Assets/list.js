// A list of any number of keys, of which only those that are seen are in the page.

import { element, foreign, formNames, preview, size } from "./text.js";

// How many rows there are above and below those that are seen.
const margin = 10;
// How many there are at most, however high the window is.
const limit = 150;

export class List {
  #keys = [];
  #rowOf;
  #noteOf;
  #onOpen;
  #active = 0;
  #shown = new Map();
  #spacer = element("div", { class: "spacer", role: "presentation" });

  // `rowOf` gives the row of a key, and `noteOf` what is to be said about it, or nothing: { class, label }, and what is before and
  // after its value.
  constructor({ rowOf, noteOf, onOpen }) {
    this.#rowOf = rowOf;
    this.#noteOf = noteOf;
    this.#onOpen = onOpen;
    this.element = element(
      "div", { class: "list", role: "grid", "aria-label": "Keys", "aria-colcount": "4" },
      this.#spacer,
    );
    this.element.addEventListener("scroll", () => this.#render(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.#onKey(event));
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.#open(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.#render()).observe(this.element);
  }

  // The key whose value is open beside the list.
  selected;

  setKeys(keys) {
    this.#keys = keys;
    this.#active = Math.max(0, Math.min(this.#active, keys.length - 1));
    this.element.setAttribute("aria-rowcount", keys.length);
    this.update();
  }

  // Shows the rows as they are now.
  update() {
    this.#render(true);
  }

  focus() {
    this.#render();
    this.#shown.get(this.#active)?.focus();
  }

  // The height of a row, which follows the size of the text.
  get #height() {
    const root = getComputedStyle(document.documentElement);
    return parseFloat(root.getPropertyValue("--row")) * parseFloat(root.fontSize);
  }

  #render(isNew = false) {
    const height = this.#height;
    const first = Math.max(0, Math.floor(this.element.scrollTop / height) - margin);
    const count = Math.min(limit, Math.ceil(this.element.clientHeight / height) + 2 * margin);
    const wanted = new Set();
    for (let index = first; index < Math.min(first + count, this.#keys.length); index += 1) wanted.add(index);
    // The row that has the focus stays, so that the keyboard isn't lost.
    if (this.#active < this.#keys.length) wanted.add(this.#active);
    this.#spacer.style.height = `${this.#keys.length * height}px`;
    const hadFocus = this.element.contains(document.activeElement);
    for (const [index, row] of this.#shown) {
      if (isNew || !wanted.has(index)) {
        row.remove();
        this.#shown.delete(index);
      }
    }
    for (const index of [...wanted].sort((one, two) => one - two)) {
      let row = this.#shown.get(index);
      if (!row) {
        row = this.#makeRow(index);
        this.#shown.set(index, row);
      }
      row.style.top = `${index * height}px`;
      row.tabIndex = index === this.#active ? 0 : -1;
    }
    // In the order in which they are seen.
    const inOrder = [...this.#shown].sort(([one], [two]) => one - two).map(([, row]) => row);
    if (inOrder.some((row, position) => this.#spacer.children[position] !== row)) this.#spacer.replaceChildren(...inOrder);
    if (hadFocus && !this.element.contains(document.activeElement)) this.#shown.get(this.#active)?.focus({ preventScroll: true });
  }

  #makeRow(index) {
    const key = this.#keys[index];
    const row = this.#rowOf(key);
    const note = this.#noteOf(key);
    const cell = (name, ...children) => element("span", { role: "gridcell", class: name }, children);
    return element(
      "div", {
        role: "row", "data-index": index, "aria-rowindex": index + 1,
        "aria-selected": key === this.selected ? "true" : "false",
        class: note ? `row ${note.class}` : "row",
      },
      cell("key", foreign(key, { limit: 300 })),
      cell("form", row ? formNames[row.form] : ""),
      cell("size", row ? size(row.size) : ""),
      cell("value", note ? [element("span", { class: "mark" }, note.label), " ", note.before] : null, row ? preview(row) : null, note?.after),
    );
  }

  #open(index) {
    this.#active = index;
    this.selected = this.#keys[index];
    this.update();
    this.#onOpen(this.selected);
  }

  #onKey(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.#height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" || event.key === " ") {
      this.#open(this.#active);
    } else if (event.key in steps) {
      this.#active = Math.max(0, Math.min(this.#keys.length - 1, this.#active + steps[event.key]));
      this.#scrollToActive();
      this.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  #scrollToActive() {
    const height = this.#height;
    const top = this.#active * height;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    const bottom = top + height - this.element.clientHeight;
    if (bottom > this.element.scrollTop) this.element.scrollTop = bottom;
  }
}
