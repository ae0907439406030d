// Which screen is shown: the list of suites, or a suite.

import { showHome } from "./home.js";
import { showSuite } from "./suite.js";
import { hasDrafts } from "./drafts.js";
import { element, foreign, plain } from "./text.js";

const main = document.getElementById("main");
const place = document.getElementById("place");
let leave = () => {};

// The secret was in the address only to get here.
history.replaceState(null, "", location.pathname + location.hash);

async function show() {
  const suite = location.hash.startsWith("#suite=") ? decodeURIComponent(location.hash.slice(7)) : undefined;
  leave();
  leave = () => {};
  main.replaceChildren(element("p", { class: "faint" }, "Loading…"));
  place.replaceChildren(suite === undefined ? "" : foreign(suite, { limit: 200 }));
  document.title = suite === undefined ? "Settings" : `${plain(suite)} – Settings`;
  try {
    leave = await (suite === undefined ? showHome(main) : showSuite(main, suite));
  } catch (error) {
    main.replaceChildren(
      element("p", { role: "alert", class: "problem" }, foreign(error.message)),
      element("p", {}, element("button", { onclick: show }, "Try again")),
    );
  }
}

let shown = location.hash;
addEventListener("hashchange", () => {
  if (hasDrafts() && !confirm("Leave the suite? Its changes that are not stored yet are lost.")) {
    history.replaceState(null, "", location.pathname + shown);
    return;
  }
  shown = location.hash;
  show();
  main.focus();
});
addEventListener("beforeunload", (event) => {
  if (hasDrafts()) event.preventDefault();
});
show();
