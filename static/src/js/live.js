// Live pages: one WebSocket for the whole page. data-live="workload.<id>" on an element joins that group; each event of
// the group is dispatched on it as "pl:event", and an element with hx-get and hx-trigger="pl:refresh" fetches itself.
//
//   to the server    {"subscribe": ["workload.…"], "last": 812}      last = the newest event this page knows
//   from the server  {"id": 813, "group": "workload.…", "kind": "…", "data": {…}}
//                    {"reset": true}   the gap is too old to be replayed: everything refreshes
import htmx from "htmx.org";
import { Ending, sayEnded } from "./ended.js";
import { backoff, each, socketUrl, words } from "./dom.js";

const SETTLE_MS = 250;
const BUSY_MS = 1500;
const members = new Map(); // group → elements
const waiting = new WeakMap();
const seen = new Set();
const ending = new Ending();
let socket = null,
  tries = 0,
  last = 0,
  asked = new Set();

/** Whether a person is in the middle of something there that a fresh copy would take away. */
function busy(element) {
  return (
    element.querySelector(".dropdown-menu.show, dialog[open], [data-pick]:checked") !== null ||
    (element.contains(document.activeElement) && document.activeElement.matches("input, textarea, select"))
  );
}

/** Several events within a quarter of a second cost one request. */
function refreshSoon(element, delay = SETTLE_MS) {
  clearTimeout(waiting.get(element));
  const refresh = () => {
    if (!element.isConnected) return;
    if (busy(element)) refreshSoon(element, BUSY_MS);
    else htmx.trigger(element, "pl:refresh");
  };
  waiting.set(element, setTimeout(refresh, delay));
}

function present(group) {
  const elements = [...(members.get(group) ?? [])].filter(element => element.isConnected);
  if (elements.length) members.set(group, new Set(elements));
  else members.delete(group);
  return elements;
}

function receive(message) {
  if (message.reset) {
    for (const group of [...members.keys()]) present(group).forEach(element => refreshSoon(element));
    return;
  }
  if (message.id !== undefined) {
    // Not "older than the last": an event may commit after one with a higher id, and the server replays a little more.
    const key = `${message.group} ${message.id}`;
    if (seen.has(key)) return;
    seen.add(key);
    last = Math.max(last, message.id);
  }
  for (const element of present(message.group)) {
    element.dispatchEvent(new CustomEvent("pl:event", { detail: message, bubbles: true }));
    refreshSoon(element);
  }
}

function ask() {
  const groups = [...members.keys()].filter(group => !asked.has(group));
  if (!groups.length || socket?.readyState !== WebSocket.OPEN) return;
  groups.forEach(group => asked.add(group));
  socket.send(JSON.stringify({ subscribe: groups, last }));
}

function connect() {
  socket = new WebSocket(socketUrl(words().liveUrl ?? "/ws/live/"));
  asked = new Set();
  socket.onopen = () => {
    tries = 0;
    document.documentElement.removeAttribute("data-offline");
    ending.opened();
    ask();
  };
  socket.onmessage = event => receive(JSON.parse(event.data));
  socket.onclose = ({ code }) => {
    const ended = ending.of(code);
    if (ended) return sayEnded(ended);
    if (tries > 1) document.documentElement.setAttribute("data-offline", "");
    setTimeout(connect, backoff(tries++));
  };
}

each("[data-live]", element => {
  last = Math.max(last, +(element.dataset.liveLast ?? 0));
  for (const group of element.dataset.live.split(/\s+/).filter(Boolean)) {
    if (!members.has(group)) members.set(group, new Set());
    members.get(group).add(element);
  }
  if (!members.size) return;
  if (socket) ask();
  else connect();
});
