// The log pane: [data-log="/ws/logs/<workload>/"] with data-api="/api/…/log/" and data-whose="attempt=…&rank=…".
//
// It begins at the end of the log. A window of rows is kept (log-view.js); the API brings what lies before and after it
// (lines/), and finds in all of the log (search/). While the window reaches the end, a socket brings what is new.
import { fill } from "./dom.js";
import { LogSearch } from "./log-search.js";
import { LogStream } from "./log-stream.js";
import { RowReader, rowsOf, unrolled } from "./log-rows.js";
import { LogView } from "./log-view.js";

const TAIL = 256 * 1024; // bytes with which it begins
const PIECE = 256 * 1024; // bytes that are loaded at a time
const BACKLOG = 2 * 1024 * 1024; // bytes that wait to be drawn; of more, the last ones are
const MAX_ROWS = 20_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
const FIND_MS = 250;
const AGAIN_MS = 1500;
const TOUCH_MS = 1000;
const KEPT = "pl-log"; // in the browser: what one chose

const number = value => value.toLocaleString("en-US");
const two = value => String(value).padStart(2, "0");

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

class LogPane {
  #queue = [];
  #queued = 0;
  #drawing = false;
  #busy = false;
  #turn = 0; // counts what is loaded: a jump overtakes what was asked before it
  #hold = 0;
  #timer = 0;
  #reading = 0; // counts the streams: what an older one still brings is not wanted
  #pointer = 0;
  #touched = 0; // when one last did something that may scroll
  #top = 0; // where it was scrolled to
  #finger = null; // where it was last seen, in pixels from the top
  #zoned; // writes a time in the page's time zone
  #upward = false; // whether what one did last leads away from the end
  stream = null;
  reader = null;
  complete = false;
  size = 0;
  follow = true;
  first = null;

  constructor(root) {
    this.root = root;
    this.words = root.dataset;
    // As all other times on the page, not as the reader's clock. Swedish writes "2026-11-24 08:13:57".
    this.#zoned = new Intl.DateTimeFormat("sv-SE", { timeZone: root.dataset.zone, dateStyle: "short", timeStyle: "medium" });
    this.status = this.#part("status");
    this.choice = { times: "clock", fold: true, wrap: matchMedia("(max-width: 767px)").matches, bytes: false, ...kept() };
    this.view = new LogView(
      this.#part("lines"),
      {
        label: this.words.wordLabel,
        folded: count => fill(this.words.wordFolded, { count: number(count) }),
        all: count => fill(this.words.wordAll, { count: number(count) }),
        states: this.words.wordStates,
      },
      {
        pick: row => this.#pick(row),
        unroll: row => this.#unroll(row),
        scrolled: () => this.#scrolled(),
        // Heights are estimated until lines are drawn: the end may turn out to lie further down.
        measured: () => this.view && this.follow && !this.view.isAtEnd && this.view.toEnd(),
        follows: () => this.follow,
        key: event => this.#key(event),
      },
    );
    this.search = new LogSearch((asked, signal) => this.#ask("search/", asked, signal), () => this.#counted());
    this.#controls();
    this.#show();
    const linked = this.#linked();
    if (linked === null) this.#attach({ tail: TAIL });
    else this.#goTo(linked, true);
    addEventListener("hashchange", () => {
      const offset = this.#linked();
      if (offset !== null && root.isConnected) this.#goTo(offset, true);
    });
    const again = setInterval(() => {
      if (!root.isConnected) {
        clearInterval(again);
        this.view.view.destroy();
      } else if (this.size > this.search.scanned && !this.search.failed) this.search.more();
    }, AGAIN_MS);
  }

  get lo() {
    return this.view.rows[0]?.offset ?? this.reader?.offset ?? 0;
  }
  get hi() {
    return this.view.rows.at(-1)?.end ?? this.reader?.offset ?? 0;
  }

  // What comes from the server

  async #ask(part, asked, signal) {
    if (!this.words.api) throw new Error(""); // a page that shows the end alone
    const url = new URL(this.words.api + part, location.href);
    for (const [name, value] of new URLSearchParams(this.words.whose ?? "")) url.searchParams.set(name, value);
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const response = await fetch(url, { signal, headers: { Accept: "application/json" } });
    const body = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(body.detail || fill(this.words.wordFailed, { status: response.status }));
    return body;
  }

  #attach(start) {
    this.stream?.close();
    this.#queue = [];
    this.#queued = 0;
    this.reader = start.offset === undefined ? null : Object.assign(new RowReader(start.offset), { offset: start.offset });
    const reading = ++this.#reading;
    this.stream = new LogStream(this.words.log, start, {
      alive: () => this.root.isConnected && this.#reading === reading,
      begin: offset => {
        this.reader ??= Object.assign(new RowReader(offset), { offset });
        this.root.dataset.begun = "";
      },
      times: list => this.#queue.push(list),
      bytes: chunk => this.#arrived(chunk),
      gap: count => this.#queue.push(count),
      cut: offset => this.#cut(offset),
      state: state => this.#state(state),
    });
    this.complete = false;
  }

  /** The window ends before the end of the log from now on. */
  #detach() {
    this.#reading++;
    this.stream?.close();
    this.stream = null;
    this.#queue = [];
    this.#queued = 0;
    this.reader = null;
    if (this.view.rows.at(-1)?.open) this.view.append([]);
    this.#state("paused");
  }

  /** The log became shorter than what was shown of it: nothing of that can be trusted. */
  #cut(offset) {
    this.#queue = [];
    this.#queued = 0;
    this.size = offset;
    this.reader = Object.assign(new RowReader(offset), { offset });
    this.view.replace([{ ...this.#note(this.words.wordCut), offset, end: offset }]);
  }

  #arrived(chunk) {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    this.size = Math.max(this.size, this.stream.offset);
    if (this.#drawing) return;
    this.#drawing = true;
    const draw = () => {
      this.#drawing = false;
      this.#draw();
    };
    // A hidden tab gets no animation frames, and its log must not pile up either.
    if (document.hidden) setTimeout(draw, 500);
    else requestAnimationFrame(draw);
  }

  /** Too much at once: what cannot be read anyway is left to whoever scrolls up. */
  #skip() {
    let at = this.stream.offset - this.#queued;
    while (this.#queued > BACKLOG / 4) {
      const item = this.#queue.shift();
      if (!(item instanceof Uint8Array)) continue;
      this.#queued -= item.length;
      at += item.length;
      const feed = item.lastIndexOf(10);
      if (this.#queued > BACKLOG / 4 || feed < 0) continue;
      const rest = item.subarray(feed + 1);
      if (rest.length) this.#queue.unshift(rest);
      this.#queued += rest.length;
      at -= rest.length;
      break;
    }
    this.reader = Object.assign(new RowReader(at), { offset: at });
    this.view.replace([]);
  }

  #draw() {
    if (!this.reader || !this.stream) return;
    if (this.#queued > BACKLOG && this.follow) this.#skip();
    const rows = [];
    let open = null;
    for (const item of this.#queue) {
      if (typeof item === "number") rows.push(this.#note(fill(this.words.wordGap, { count: number(item) })));
      else if (Array.isArray(item)) this.reader.times(item);
      else {
        const read = this.reader.push(item);
        for (const row of read.rows) rows.push(row);
        open = read.open;
      }
    }
    const isEmpty = !this.#queued;
    this.#queue = [];
    this.#queued = 0;
    if (isEmpty && !rows.length) return;
    if (open) rows.push(open);
    this.#append(rows);
    if (!this.follow && this.#isFull()) return this.#detach();
    if (this.follow) this.view.toEnd();
    this.#state(this.state);
  }

  #note(text) {
    const at = this.hi;
    return { offset: at, end: at, at: null, text, spans: [], overwritten: false, open: false };
  }

  #isFull() {
    return this.view.rows.length >= MAX_ROWS || this.view.view.state.doc.length >= MAX_CHARACTERS;
  }

  /** How many rows have to go so that `more` fit in. */
  #surplus(more) {
    const { rows } = this.view;
    const { length } = this.view.view.state.doc;
    const characters = length + more.reduce((sum, row) => sum + row.text.length, 0) - MAX_CHARACTERS;
    const many = rows.length + more.length - MAX_ROWS;
    const share = characters > 0 ? Math.ceil((characters / Math.max(1, length)) * rows.length) : 0;
    return Math.max(0, many, share);
  }

  #append(rows) {
    // In steps, since each costs a little whatever its size; above what one reads nothing is taken away.
    const surplus = this.follow || !this.stream ? this.#surplus(rows) : 0;
    this.view.append(rows.slice(-MAX_ROWS), Math.min(surplus, this.view.rows.length));
  }

  async #load(asked, put, isJump = false) {
    if (this.#busy && !isJump) return;
    const turn = ++this.#turn;
    this.#busy = true;
    this.root.setAttribute("aria-busy", "true");
    try {
      const answer = await this.#ask("lines/", { limit: PIECE, ...asked });
      if (turn !== this.#turn) return;
      this.size = Math.max(this.size, answer.size);
      put(answer, rowsOf(answer.lines));
      this.#state(this.state);
    } catch (error) {
      this.#hold = Date.now() + 5000;
      this.status.textContent = error.message;
    } finally {
      if (turn === this.#turn) {
        this.#busy = false;
        this.root.removeAttribute("aria-busy");
      }
    }
  }

  #earlier() {
    const before = this.lo;
    if (before <= 0 || !this.view.rows.length || Date.now() < this.#hold) return;
    return this.#load({ before }, (_answer, rows) => {
      if (this.lo !== before) return; // it has moved meanwhile
      const drop = this.#surplus(rows);
      if (drop && this.stream) this.#detach();
      this.view.prepend(rows, drop);
    });
  }

  #later() {
    if (this.stream || Date.now() < this.#hold) return;
    const offset = this.hi;
    return this.#load({ offset }, (answer, rows) => {
      if (this.stream || this.hi !== offset) return;
      this.#append(rows.filter(row => row.offset >= offset));
      this.complete = answer.complete;
      if (!answer.complete && (!rows.length || answer.size - answer.next_offset < PIECE)) this.#attach({ offset: this.hi });
      else if (answer.complete) this.#attach({ offset: this.hi });
    });
  }

  async #goTo(offset, isPicked = false) {
    this.#follow(false, false);
    if (isPicked) this.view.picked = offset;
    if (this.view.reveal(offset)) return;
    const show = (answer, rows) => {
      this.#detach();
      this.view.replace(rows);
      this.view.reveal(Math.min(offset, Math.max(0, answer.next_offset - 1)));
    };
    await this.#load({ offset: Math.max(0, offset - PIECE / 2) }, show, true);
  }

  #toBeginning() {
    this.#follow(false, false);
    if (this.view.rows.length && this.lo === 0) return this.view.toTop();
    const show = (_answer, rows) => {
      this.#detach();
      this.view.replace(rows);
      this.view.toTop();
    };
    return this.#load({ offset: 0 }, show, true);
  }

  #toEnd() {
    this.#follow(true, false);
    if (!this.stream) {
      this.view.replace([]);
      this.#attach({ tail: TAIL });
    }
    this.view.toEnd();
  }

  async #unroll(row) {
    const answer = await this.#ask("lines/", { offset: row.offset, limit: PIECE }).catch(() => null);
    const line = answer?.lines.find(one => one.offset === row.offset);
    if (line) this.view.exchange(row, unrolled(line));
  }

  // What is shown about it

  #state(state = "live") {
    this.state = state;
    this.root.dataset.state = state;
    const { words } = this;
    const text = {
      live: words.wordLive,
      lost: words.wordLost,
      unseen: words.wordUnseen,
      complete: words.wordComplete,
      denied: words.wordDenied,
      "signed-out": words.wordSignedOut,
      paused: words.wordPaused,
    }[state];
    const offset = this.stream?.offset ?? this.size;
    this.size = Math.max(this.size, offset ?? 0);
    const values = { bytes: number(offset ?? 0), from: number(this.lo), to: number(this.hi), size: number(this.size) };
    this.status.textContent = fill(text, values);
    this.#part("earlier").hidden = !this.view.rows.length || this.lo === 0;
    const isEmpty = state === "complete" && !this.view.rows.length && !this.#queued;
    this.#part("empty").hidden = !isEmpty;
    if (state === "complete") this.complete = true;
  }

  #timeOf(row) {
    if (row.at === null || row.at === undefined) return "";
    if (this.choice.times === "since") {
      const seconds = Math.max(0, (row.at - (this.first ?? row.at)) / 1000);
      return `+${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
    }
    const [day, clock] = this.#zoned.format(row.at).split(" ");
    const [today] = this.#zoned.format(Date.now()).split(" ");
    return day === today ? clock : `${day.slice("2026-".length)} ${clock}`;
  }

  /** Applies what one chose, and keeps it. */
  #show(change = {}) {
    Object.assign(this.choice, change);
    const { times, fold, wrap, bytes } = this.choice;
    try {
      localStorage.setItem(KEPT, JSON.stringify(this.choice));
    } catch {
      // A browser that keeps nothing shows it all the same.
    }
    for (const [name, value] of Object.entries({ fold, wrap, bytes })) this.#part(name).setAttribute("aria-pressed", value);
    this.#part("times").value = times;
    this.view.folding = fold;
    this.view.wrap(wrap);
    this.view.times(times === "off" ? null : row => this.#timeOf(row));
    this.view.bytes(bytes ? row => number(row.offset) : null);
    this.view.redraw();
    if (this.follow) this.view.toEnd();
    if (times === "since" && this.first === null) this.#learnFirst();
  }

  async #learnFirst() {
    const answer = await this.#ask("lines/", { offset: 0, limit: 65536 }).catch(() => null);
    const at = answer?.lines[0]?.at;
    this.first = at ? Date.parse(at) : null;
    this.view.redraw();
  }

  /** A link to the line: in the address, and to copy. */
  #pick(row) {
    this.view.picked = row.offset;
    this.view.redraw();
    const page = this.words.page ? new URL(this.words.page, location.href) : new URL(location.href);
    page.hash = `L${row.offset}`;
    history.replaceState(history.state, "", page);
    navigator.clipboard?.writeText(page.href).then(
      () => (this.status.textContent = this.words.wordLinked),
      () => {},
    );
  }

  #pickAtCursor() {
    const { state } = this.view.view;
    const row = this.view.rows[state.doc.lineAt(state.selection.main.head).number - 1];
    if (row) this.#pick(row);
  }

  #linked() {
    const offset = /^#L(\d{1,18})$/.exec(location.hash)?.[1];
    return offset === undefined ? null : Number(offset);
  }

  // What one does

  #part(name) {
    return this.root.querySelector(`[data-log-${name}]`);
  }

  #controls() {
    this.input = this.#part("find");
    this.matches = this.#part("matches");
    this.input.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#find(), FIND_MS);
    });
    this.input.addEventListener("keydown", event => {
      if (event.key === "Escape" && !this.input.value) this.view.view.focus();
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    });
    const click = (name, act) => this.#part(name).addEventListener("click", act);
    const press = name => click(name, () => this.#show({ [name]: !this.choice[name] }));
    click("previous", () => this.#step(-1));
    click("next", () => this.#step(1));
    click("case", event => {
      const { currentTarget } = event;
      currentTarget.setAttribute("aria-pressed", currentTarget.getAttribute("aria-pressed") !== "true");
      this.#find();
    });
    ["fold", "wrap", "bytes"].forEach(press);
    this.#part("times").addEventListener("change", event => this.#show({ times: event.target.value }));
    const touched = event => {
      if (event.type === "pointermove" && !event.buttons) return;
      this.#touched = Date.now();
      if (event.pointerType !== "touch") this.#upward = false; // a finger's way is told by its touches
      if (!this.#turnsUp(event)) return;
      this.#leaveEnd();
      this.#reach(); // at the top already, nothing scrolls any more
    };
    for (const type of ["wheel", "touchstart", "touchmove", "pointerdown", "pointermove", "keydown"])
      this.#part("lines").addEventListener(type, touched, { passive: true, capture: true });
    click("beginning", () => this.#toBeginning());
    click("earlier", () => this.#earlier());
    click("follow", () => (this.follow ? this.#follow(false) : this.#toEnd()));
  }

  /** Whether a wheel or a finger goes towards the beginning. */
  #turnsUp({ type, deltaY, ctrlKey, touches }) {
    if (type === "wheel") return deltaY < 0 && !ctrlKey; // with Ctrl it makes the page larger
    if (!type.startsWith("touch")) return false;
    const before = this.#finger;
    this.#finger = touches?.length === 1 ? touches[0].clientY : null;
    return type === "touchmove" && before !== null && this.#finger > before;
  }

  /** Before it has scrolled: on a slow machine, lines that are drawn meanwhile would take one back to the end. */
  #leaveEnd() {
    this.#upward = true;
    if (this.follow && (this.view.view.scrollDOM.scrollTop > 0 || this.lo > 0)) this.#follow(false);
  }

  // Scrolling up stops following, scrolling down to the end starts it again.
  #scrolled() {
    const { view } = this;
    const { scrollTop } = view.view.scrollDOM;
    const isUp = scrollTop < this.#top;
    this.#top = scrollTop;
    const isOurs = Date.now() - this.#touched > TOUCH_MS; // lines came, went or were measured
    if (this.stream && view.rows.length) {
      if (this.follow && isUp && !view.isAtEnd && !isOurs) this.#follow(false);
      // What was scrolled to the end before the wheel turned up may be told of after it.
      else if (!this.follow && !isUp && view.isAtEnd && !this.#upward) this.#follow(true, false);
    }
    this.#reach();
  }

  /** Loads what lies beyond an end of the window that is near. */
  #reach() {
    cancelAnimationFrame(this.#pointer);
    this.#pointer = requestAnimationFrame(() => {
      const { view } = this;
      if (!view.rows.length) return;
      if (view.isNearTop && !this.follow) this.#earlier();
      else if (view.isNearEnd) this.#later();
    });
  }

  #follow(wanted, move = true) {
    this.follow = wanted;
    if (wanted) this.#upward = false;
    this.#part("follow").setAttribute("aria-pressed", wanted);
    if (wanted && move) this.view.toEnd();
  }

  #key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "a") {
      event.preventDefault();
      this.view.selectAll();
      return true;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const page = this.view.view.scrollDOM.clientHeight - 40;
    const by = pixels => () => {
      if (pixels < 0) this.#leaveEnd();
      this.view.view.scrollDOM.scrollBy(0, pixels);
    };
    const act = {
      "/": () => this.input.focus(),
      n: () => this.#step(1),
      N: () => this.#step(-1),
      l: () => this.#pickAtCursor(),
      g: () => this.#toBeginning(),
      Home: () => this.#toBeginning(),
      G: () => this.#toEnd(),
      End: () => this.#toEnd(),
      ArrowUp: event.shiftKey ? null : by(-40),
      ArrowDown: event.shiftKey ? null : by(40),
      PageUp: by(-page),
      PageDown: by(page),
      " ": by(page),
    }[event.key];
    if (!act) return false;
    event.preventDefault();
    act();
    return true;
  }

  #find() {
    clearTimeout(this.#timer);
    const text = this.input.value;
    const matchCase = this.#part("case").getAttribute("aria-pressed") === "true";
    if (text === this.search.text && matchCase === this.search.matchCase) return;
    this.view.found = { text, matchCase, now: null, nth: 0 };
    this.view.redraw();
    this.wanted = text ? (this.view.topRow()?.offset ?? 0) : null;
    this.search.start(text, matchCase);
  }

  #counted() {
    const { search, words } = this;
    const ahead = search.hits.at(-1)?.offset ?? -1;
    if (this.wanted !== null && search.hits.length && (ahead >= this.wanted || !search.isBusy)) {
      const from = this.wanted;
      this.wanted = null;
      search.at = search.from(from, 1);
      this.#toHit(search.hits[search.at]);
    }
    let text = "";
    if (search.failed) text = search.failed;
    else if (search.text && search.hits.length) {
      const count = `${number(search.hits.length)}${search.isFull || search.isBusy ? "+" : ""}`;
      text = fill(this.matches.dataset.some, { at: number(search.at + 1), count });
    } else if (search.text) text = search.isBusy ? fill(words.wordSearching, { bytes: number(search.scanned) }) : this.matches.dataset.none;
    this.matches.textContent = text;
  }

  #step(by) {
    this.#find();
    if (this.search.failed) this.search.more();
    const hit = this.search.step(by, this.view.topRow()?.offset ?? 0);
    if (!hit) return;
    this.wanted = null;
    this.#toHit(hit);
    this.#counted();
  }

  async #toHit(hit) {
    this.view.found.now = hit.offset;
    await this.#goTo(hit.offset);
    const index = this.view.indexOf(hit.offset);
    if (index < 0 || this.view.found.now !== hit.offset) return;
    const row = this.view.rows[index];
    const before = this.search.hits.filter(one => one.offset >= row.offset && one.offset < hit.offset);
    this.view.found.nth = before.length;
    const { text, matchCase } = this.search;
    const isHidden = !(matchCase ? row.text : row.text.toLowerCase()).includes(matchCase ? text : text.toLowerCase());
    if (row.overwritten && isHidden) await this.#unroll(row);
    this.view.redraw();
  }
}

export const mount = root => new LogPane(root);
