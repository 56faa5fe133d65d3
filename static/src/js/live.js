// Live pages: one WebSocket for the whole page. data-live="workload.<id>" on an element joins that group; each event of
// the group is dispatched on it as "pl:event", and an element with hx-get and hx-trigger="pl:refresh" fetches itself.
// data-live-only="<id> <id>" hears only what is about one of these, data-live-of="training" only of this kind of work.
//
//   to the server    {"subscribe": ["workload.…"], "last": 812}      last = the newest event this page knows
//   from the server  {"events": [{"id": 813, "group": "workload.…", "kind": "…"}, …], "spread": s}
//                    {"reset": true, "spread": s}   anything may have changed: everything refreshes
//
// An element with data-live-list is sent instead of fetched: "lists": {its id: its hx-get} goes to the server, which
// answers {"lists": [id, …]} with those that it will send, and sends a binary frame (see pushed.js) for each change.
// Charts with data-every likewise: "charts": {address: newest point}, answered {"charts": [address, …]}, and then
// {"chart": address, "series": […]} with each new point.
// Fetches are spread over "spread" seconds, since a thousand pages may have heard the same.
import htmx from "htmx.org";
import { Ending, sayEnded } from "./ended.js";
import { backoff, each, socketUrl, words } from "./dom.js";
import { unpack, withToken } from "./pushed.js";

const SETTLE_MS = 250;
const BUSY_MS = 1500;
const RETURN_SPREAD_MS = 5000;
const members = new Map(); // group → elements
const waiting = new WeakMap(); // element → when it refreshes
const late = new Set(); // elements that refresh once somebody looks
const seen = new Set();
const shown = new Map(); // id → the newest list that somebody's menu keeps from being shown
const ending = new Ending();
let socket = null,
  tries = 0,
  opened = false,
  last = 0,
  asked = new Set(),
  askedCharts = "",
  pushedCharts = [],
  lists = {}, // id → address, as asked
  pushed = new Set(), // ids of lists that the server sends
  unpacking = Promise.resolve();

/** Whether a person is in the middle of something there that a fresh copy would take away. */
function busy(element) {
  return (
    element.querySelector(".dropdown-menu.show, dialog[open], [data-pick]:checked") !== null ||
    (element.contains(document.activeElement) && document.activeElement.matches("input, textarea, select"))
  );
}

/** Several events cost one request, and the first of them says when at the latest. */
function refreshSoon(element, delay = SETTLE_MS) {
  const at = performance.now() + delay,
    planned = waiting.get(element);
  if (planned && planned.at <= at) return;
  clearTimeout(planned?.timer);
  waiting.set(element, { at, timer: setTimeout(refresh, delay, element) });
}

function refresh(element) {
  waiting.delete(element);
  if (!element.isConnected) return;
  if (document.hidden) late.add(element);
  else if (busy(element)) refreshSoon(element, BUSY_MS);
  else htmx.trigger(element, "pl:refresh");
}

// A menu may have been opened while the answer was on its way: it stays, and what is new is fetched a little later.
document.addEventListener("htmx:beforeSwap", event => {
  const { requestConfig, target } = event.detail;
  if (requestConfig?.triggeringEvent?.type !== "pl:refresh" || !(busy(target) || busy(requestConfig.elt))) return;
  event.detail.shouldSwap = false;
  refreshSoon(requestConfig.elt, BUSY_MS);
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  late.forEach(refresh);
  late.clear();
});

function present(group) {
  const elements = [...(members.get(group) ?? [])].filter(element => element.isConnected);
  if (elements.length) members.set(group, new Set(elements));
  else members.delete(group);
  return elements;
}

function receive(message) {
  const { events = [], reset, spread = 0 } = message;
  if (message.lists && !reset) listed(message.lists);
  if (message.charts) charted(message.charts);
  if (message.chart) tellCharts(message.chart, message.series);
  const delay = SETTLE_MS + Math.random() * spread * 1000;
  if (reset) refreshAll(delay, message.lists);
  for (const event of events) hear(event, delay);
}

const charts = () => [...document.querySelectorAll("[data-chart][data-every][data-newest]")];

/** Those that the server does not push, or not any more, ask by themselves. */
function charted(urls) {
  pushedCharts = urls;
  for (const element of charts()) element.toggleAttribute("data-pushed", urls.includes(element.dataset.chart));
}

function tellCharts(url, series) {
  for (const element of charts())
    if (element.dataset.chart === url) element.dispatchEvent(new CustomEvent("pl:points", { detail: series }));
}

/** All charts that the page shows now; asked again when one comes or goes. */
function askForCharts() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const wanted = Object.fromEntries(charts().map(element => [element.dataset.chart, +element.dataset.newest]));
  const key = Object.keys(wanted).join(" ");
  if (key === askedCharts) return charted(pushedCharts);
  askedCharts = key;
  socket.send(JSON.stringify({ subscribe: [], charts: wanted }));
}

document.addEventListener("pl:chart", askForCharts);

/** Those that the server does not send, or not any more, are fetched. */
function listed(ids) {
  const gone = [...pushed].filter(id => !ids.includes(id));
  pushed = new Set(ids);
  for (const element of gone.map(id => document.getElementById(id))) if (element) refreshSoon(element);
}

function refreshAll(delay, alsoLists = false) {
  for (const group of [...members.keys()])
    for (const element of present(group)) if (alsoLists || !isPushed(element)) refreshSoon(element, delay);
}

const isPushed = element => pushed.has(element.id) && "liveList" in element.dataset;

async function show(data) {
  const { list, url, html } = await unpack(data);
  const element = document.getElementById(list);
  if (element?.getAttribute("hx-get") !== url) return; // of filters that are not set any more
  const isWaiting = shown.has(list);
  shown.set(list, html);
  if (!isWaiting) draw(list);
}

function draw(list) {
  const element = document.getElementById(list);
  if (element && busy(element)) return setTimeout(draw, BUSY_MS, list);
  const html = shown.get(list);
  shown.delete(list);
  if (!element) return;
  htmx.trigger(element, "htmx:beforeSwap", { target: element, xhr: {} });
  htmx.swap(element, withToken(html), { swapStyle: "outerHTML", swapDelay: 0, settleDelay: 0 }, { select: `#${list}`, selectOOB: element.getAttribute("hx-select-oob") });
}

/** What is replayed does not say of which kind of work it is, and concerns every list. */
function concerns({ liveOnly, liveOf }, { workload, about, of = liveOf }) {
  if (liveOnly) return liveOnly.split(/\s+/).some(id => id === workload || id === about);
  return !liveOf || (workload !== undefined && of === liveOf);
}

function hear(event, delay) {
  if (event.id !== undefined) {
    // Not "older than the last": an event may commit after one with a higher id, and the server replays a little more.
    const key = `${event.group} ${event.id}`;
    if (seen.has(key)) return;
    seen.add(key);
    last = Math.max(last, event.id);
  }
  for (const element of present(event.group)) {
    if (!concerns(element.dataset, event)) continue;
    element.dispatchEvent(new CustomEvent("pl:event", { detail: event, bubbles: true }));
    if (!isPushed(element)) refreshSoon(element, delay);
  }
}

/** `stale`: the page may have missed something. */
function ask(stale = false) {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const groups = [...members.keys()].filter(group => !asked.has(group));
  const wanted = Object.fromEntries(
    [...document.querySelectorAll("[data-live-list]")]
      .map(element => [element.id, element.getAttribute("hx-get")])
      .filter(([id, url]) => lists[id] !== url),
  );
  groups.forEach(group => asked.add(group));
  Object.assign(lists, wanted);
  const message = { subscribe: groups, last };
  if (Object.keys(wanted).length) Object.assign(message, { lists: wanted, stale });
  if (groups.length || message.lists) socket.send(JSON.stringify(message));
}

function connect() {
  socket = new WebSocket(socketUrl(words().liveUrl ?? "/ws/live/"));
  socket.binaryType = "arraybuffer";
  asked = new Set();
  lists = {};
  askedCharts = "";
  socket.onopen = () => {
    tries = 0;
    document.documentElement.removeAttribute("data-offline");
    ending.opened();
    ask(opened);
    askForCharts();
    // Progress, notices and what people did elsewhere are not replayed.
    if (opened) refreshAll(SETTLE_MS + Math.random() * RETURN_SPREAD_MS);
    opened = true;
  };
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") receive(JSON.parse(data));
    else unpacking = unpacking.then(() => show(data)).catch(() => refreshAll(SETTLE_MS, true));
  };
  socket.onclose = ({ code }) => {
    pushed = new Set();
    charted([]);
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
