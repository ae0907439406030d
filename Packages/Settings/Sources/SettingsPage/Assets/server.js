// What the page asks the server for.

export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const connection = document.getElementById("connection");

// Shows whether the page gets changes.
export function showConnection(isLive, reason = "The connection is lost. Trying again…") {
  connection.textContent = isLive ? "Live" : reason;
  connection.className = isLive ? "live" : "lost";
}

async function request(name, body) {
  let response;
  try {
    response = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Settings-Page": "1" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refusal(0, "The server can't be reached. Is it still running?");
  }
  if (!response.ok) throw new Refusal(response.status, (await response.text()).trim());
  return response;
}

export const ask = async (name, body = {}) => (await request(name, body)).json();

// A picture, as an address that lasts as long as the page.
export const picture = async (body) => URL.createObjectURL(await (await request("image", body)).blob());

// Calls a function again and again while the page is seen, until what it returns is called.
export function repeat(seconds, body) {
  let timer;
  let isEnded = false;
  const run = async () => {
    if (!document.hidden) await body();
    if (!isEnded) timer = setTimeout(run, seconds * 1000);
  };
  run();
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}

// Calls `onEvent` for each event after a position, and `onReload` if too many were missed. While the page isn't seen there is no
// connection, since a browser has only some for all pages; what was missed comes when it is seen again.
export function listen(suite, position, { onEvent, onReload }) {
  let source;
  let timer;
  let last = position;

  function open() {
    close();
    source = new EventSource(`api/events?suite=${encodeURIComponent(suite)}&after=${encodeURIComponent(last)}`);
    source.onopen = () => showConnection(true);
    source.onmessage = (message) => {
      last = message.lastEventId;
      onEvent(JSON.parse(message.data));
    };
    source.addEventListener("reload", () => {
      close();
      onReload();
    });
    source.onerror = async () => {
      showConnection(false);
      close();
      // Only an answer says why.
      const refusal = await ask("open", { suite: "" }).catch((error) => error);
      if (refusal.status === 403) showConnection(false, "The server was started again: open the address that it printed.");
      timer = setTimeout(open, 500);
    };
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }

  const onVisibility = () => (document.hidden ? close() : source ?? open());
  document.addEventListener("visibilitychange", onVisibility);
  open();
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    close();
  };
}
