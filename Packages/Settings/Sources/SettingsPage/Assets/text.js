// Text that anybody may have stored, and elements. Nothing here takes markup: all text becomes text nodes.

// Control characters, marks of direction and other invisible ones; the two joiners belong to languages and to emoji.
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

// An element with properties ("class", "on…" for listeners, attributes otherwise) and children: strings, elements, or nothing.
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false || value === null) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Text that isn't this page's own: in a direction of its own, with signs for what can't be seen.
export function foreign(text, { lines = false, limit = Infinity } = {}) {
  const made = element("bdi", { class: lines ? "text lines" : "text" });
  let shown = text;
  if (text.length > limit) shown = text.slice(0, limit);
  let end = 0;
  for (const match of shown.matchAll(unseen)) {
    if (lines && (match[0] === "\n" || match[0] === "\t")) continue;
    made.append(shown.slice(end, match.index));
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    made.append(element("span", { class: "unseen-character", title: `U+${code}` }, `U+${code}`));
    end = match.index + match[0].length;
  }
  made.append(shown.slice(end));
  if (shown.length < text.length) made.append("…");
  return made;
}

// The same as a plain string, for labels and announcements.
export function plain(text, limit = 100) {
  const cut = text.length > limit ? text.slice(0, limit) + "…" : text;
  return cut.replace(unseen, (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

const numbers = new Intl.NumberFormat();
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const times = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

export const number = (value) => numbers.format(value);
export const date = (milliseconds) => dates.format(milliseconds);
export const time = (milliseconds) => times.format(milliseconds);

export function size(bytes) {
  const units = ["byte", "kilobyte", "megabyte"];
  let step = 0;
  while (bytes >= 1000 && step < 2) {
    bytes /= 1000;
    step += 1;
  }
  const digits = step > 0 && bytes < 10 ? 1 : 0;
  return new Intl.NumberFormat(undefined, {
    style: "unit", unit: units[step], unitDisplay: step === 0 ? "long" : "short", maximumFractionDigits: digits,
  }).format(bytes);
}

// How long ago it was, as people say it.
export function ago(milliseconds) {
  const seconds = (milliseconds - Date.now()) / 1000;
  const steps = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(undefined, { numeric: "auto" }).format(Math.round(seconds / length), unit);
}

export const formNames = {
  string: "text", boolean: "Boolean", integer: "integer", unsigned: "integer", real: "number", date: "date",
  array: "array", dictionary: "dictionary", json: "JSON", propertyList: "property list", image: "picture", data: "data",
  null: "null",
};

// A value's beginning as a list shows it. Dates are in local time, with the exact one beside.
export function preview(row) {
  if (row.isHidden && row.preview === "<hidden>") return element("span", { class: "faint" }, "hidden");
  if (row.form === "date") {
    const milliseconds = Date.parse(row.preview);
    if (!Number.isNaN(milliseconds)) {
      return element("span", {}, date(milliseconds), " ", element("span", { class: "faint" }, row.preview));
    }
  }
  if (row.form === "integer" && Number.isSafeInteger(Number(row.preview))) return element("span", {}, number(Number(row.preview)));
  if (row.form === "string" && row.preview === "") return element("span", { class: "faint" }, "empty");
  return element("span", {}, foreign(row.preview), row.isCut ? "…" : null);
}

// Says something to those who listen to the page.
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}
