// Fields for values: a switch, a number, text, a date, or text that is checked.

import { element, foreign, plain } from "./text.js";

// The types that a value can have, as they are offered.
const types = {
  string: "Text", boolean: "Boolean", integer: "Integer", real: "Number with a fraction", date: "Date", array: "Array",
  dictionary: "Dictionary", json: "JSON, as settings types are stored", data: "Data, in hexadecimal", propertyList: "Property list in data",
  unsigned: "Integer without a sign",
};
// What a field begins with when the type was changed and its text makes no sense any more.
const beginnings = { boolean: "false", integer: "0", unsigned: "0", real: "0.0", array: "[]", dictionary: "{}", json: "{}", propertyList: "{}", data: "" };

let lastIdentifier = 0;

// What is wrong with a text of a form, as far as a browser can say; the server checks everything.
function fault(form, text) {
  const trimmed = text.trim();
  switch (form) {
    case "integer": return /^[+-]?\d+$/.test(trimmed) ? "" : "This is not a whole number.";
    case "unsigned": return /^\+?\d+$/.test(trimmed) ? "" : "This is not a whole number without a sign.";
    case "real": return /^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf|nan)$/.test(trimmed) ? "" : "This is not a number. A point separates the fraction: 0.5.";
    case "date": return Number.isNaN(timeOf(trimmed).getTime()) && !/^-?[\d.e+]+$/.test(trimmed) ? "This is not a date. Write it as 2026-11-21T12:00:00Z." : "";
    case "data": return /^(\s*[\da-f]{2})*\s*$/i.test(text) ? "" : "Bytes are written as pairs of hexadecimal digits: 01 ff.";
    case "array": case "dictionary": case "json": case "propertyList":
      try {
        const value = JSON.parse(text);
        if (form === "array" && !Array.isArray(value)) return "An array is written in square brackets: [1, 2].";
        if (form === "dictionary" && (typeof value !== "object" || value === null || Array.isArray(value))) return "A dictionary is written in braces: {\"name\": 1}.";
        return "";
      } catch (error) {
        return `This is not JSON. ${error.message}`;
      }
    default: return "";
  }
}

// A field for a value, and its type. `onChange` is called with each { form, text, isQuoted } that has no fault.
export function editor(value, onChange, label = "Value") {
  lastIdentifier += 1;
  const identifier = `field${lastIdentifier}`;
  const complaint = element("p", { class: "problem", role: "alert", id: `${identifier}-fault` });
  const place = element("div");
  let { form, text, isQuoted } = value;

  function change(newText) {
    text = newText;
    const wrong = isQuoted ? fault("json", text) : fault(form, text);
    complaint.replaceChildren(wrong ? foreign(wrong) : "");
    place.querySelector("input, textarea")?.setAttribute("aria-invalid", wrong ? "true" : "false");
    if (!wrong) onChange({ form, text, isQuoted });
  }

  const type = element("select", { id: `${identifier}-type`, onchange: () => {
    form = type.value;
    isQuoted = undefined;
    if (form === "date" && fault(form, text)) text = new Date().toISOString().replace(/\.\d+/, "");
    else if (fault(form, text) || (form === "boolean" && !["true", "false"].includes(text))) text = beginnings[form] ?? text;
    show();
    change(text);
  } }, Object.entries(types).filter(([name]) => name === form || !["unsigned", "propertyList"].includes(name))
    .map(([name, title]) => element("option", { value: name }, title)));
  type.value = form;

  function show() {
    const common = { id: identifier, "aria-describedby": `${identifier}-fault` };
    if (form === "boolean") {
      const box = element("input", { ...common, type: "checkbox", role: "switch", checked: text === "true", onchange: () => {
        state.textContent = box.checked ? "on" : "off";
        change(String(box.checked));
      } });
      const state = element("span", { "aria-hidden": "true" }, text === "true" ? "on" : "off");
      place.replaceChildren(box, " ", state);
    } else if (["integer", "unsigned", "real"].includes(form)) {
      place.replaceChildren(element("input", { ...common, type: "text", inputmode: form === "real" ? "decimal" : "numeric", autocomplete: "off", value: text, oninput: (event) => change(event.target.value) }));
    } else if (form === "date") {
      const exact = element("input", { ...common, type: "text", autocomplete: "off", value: text, oninput: () => { local.value = localTime(exact.value); change(exact.value); } });
      const local = element("input", { type: "datetime-local", step: "1", id: `${identifier}-local`, value: localTime(text), oninput: () => {
        const time = new Date(local.value);
        if (Number.isNaN(time.getTime())) return;
        exact.value = time.toISOString().replace(".000Z", "Z");
        change(exact.value);
      } });
      place.replaceChildren(exact, element("label", { for: local.id }, "In local time"), local);
    } else {
      const area = element("textarea", { ...common, class: form === "string" ? "" : "code", spellcheck: "false", rows: Math.min(16, Math.max(text.split("\n").length + 1, text.length / 40)), value: text, oninput: () => change(area.value) });
      place.replaceChildren(area);
    }
  }

  show();
  return element(
    "div", { class: "editor" },
    element("label", { for: identifier }, isQuoted ? `${label}, as JSON writes it: it has characters that can't be seen` : label), place, complaint,
    element("label", { for: type.id }, "Type"), type,
  );
}

// The time that a text is for the server, which takes seconds as well, and a time without a zone as one in Greenwich: a browser would
// take "12.5" for the fifth of December.
function timeOf(text) {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))? ?(Z|[+-]\d\d:?\d\d)?$/.exec(text.trim());
  return new Date(parts ? `${parts[1]}T${parts[2] ?? "00:00"}${parts[3] ?? "Z"}` : NaN);
}

// The local time of a date in the form that the field for it takes.
function localTime(text) {
  const time = timeOf(text);
  if (Number.isNaN(time.getTime())) return "";
  const two = (number) => String(number).padStart(2, "0");
  return `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}T${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

// Asks for a new key and its value: { key, value }, or nothing.
export function newKey(isTaken) {
  return new Promise((resolve) => {
    let value = { form: "string", text: "" };
    let result;
    const complaint = element("p", { class: "problem", role: "alert" });
    const name = element("input", { type: "text", id: "new-key", autocomplete: "off", spellcheck: "false" });
    const add = () => {
      const wrong = name.value === "" ? "A key has at least one character." : isTaken(name.value) ? `There is a value for ${plain(name.value)} already.`
        : dialog.querySelector("[aria-invalid=true]") ? "The value can't be read yet." : "";
      complaint.textContent = wrong;
      if (wrong) return;
      result = { key: name.value, value };
      dialog.close();
    };
    const dialog = element(
      "dialog", { "aria-label": "New key" }, element("h2", {}, "New key"),
      element("label", { for: "new-key" }, "Key"), name, editor(value, (edited) => { value = edited; }), complaint,
      element("div", { class: "pending" }, element("button", { onclick: () => dialog.close() }, "Cancel"), element("button", { class: "main", onclick: add }, "Add")),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(result);
    });
    document.body.append(dialog);
    dialog.showModal();
    name.focus();
  });
}
