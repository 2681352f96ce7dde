/* The page's own: its state is in the address, and it talks by a socket. */
import { explorer, THEME } from "./explore.js";

const start = JSON.parse(document.getElementById("start").textContent);
const place = new URL("socket", location.href);
place.protocol = "ws:";
place.search = "";

let socket = null, waiting = null, heard = () => {}, report = () => {};
function connect() {
  socket = new WebSocket(place);
  socket.addEventListener("open", () => { report(""); if (waiting) socket.send(waiting); });
  socket.addEventListener("message", (event) => heard(JSON.parse(event.data)));
  socket.addEventListener("close", (event) => {
    report(event.reason || "The server has ended. Start simtmm explore again, with --state and this address.");
  });
}
const page = explorer(document.getElementById("page"), start, {
  state: location.search.slice(1) || start.state,
  canExplain: true,
  send(question) {
    waiting = JSON.stringify(question);
    if (socket.readyState === WebSocket.OPEN) socket.send(waiting);
    else if (socket.readyState === WebSocket.CLOSED) connect();
  },
  hear(callback) { heard = callback; },
  interrupted(callback) { report = callback; },
  keys: () => document,
  theme: () => localStorage.getItem(THEME),
  keepTheme(name) { localStorage.setItem(THEME, name); },
  keep(text) { history.replaceState(null, "", `?${text}`); },
});
connect();
page.begin();
addEventListener("popstate", () => page.go(location.search.slice(1)));
