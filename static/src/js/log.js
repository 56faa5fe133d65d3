// The log pane: [data-log="/ws/logs/<workload>/"]. Follows the end, finds, keeps colours, resumes by byte offset.
import { AnsiLines, lineElement } from "./ansi.js";
import { each, fill } from "./dom.js";
import { LogFind } from "./log-find.js";
import { LogStream } from "./log-stream.js";

const KEEP_LINES = 5000; // older lines leave the page (not the log); the download has them all
const FIND_MS = 200;

class LogPane {
  #open = null;
  #queue = "";
  #drawing = false;
  #timer = 0;

  constructor(root) {
    this.root = root;
    this.lines = root.querySelector("[role=log]");
    this.status = root.querySelector("[data-log-status]");
    this.dropped = root.querySelector("[data-log-dropped]");
    this.ansi = new AnsiLines();
    this.decoder = new TextDecoder();
    this.find = new LogFind(this.lines);
    this.follow = true;
    this.#controls();
    this.stream = new LogStream(root.dataset.log, +(root.dataset.offset || 0), {
      alive: () => root.isConnected,
      bytes: chunk => this.#text(this.decoder.decode(chunk, { stream: true })),
      gap: count => this.#text(`\n${fill(root.dataset.wordGap, { count: count.toLocaleString("en-US") })}\n`),
      state: state => this.#state(state),
    });
  }

  #text(text) {
    this.#queue += text;
    if (this.#drawing) return;
    this.#drawing = true;
    // A hidden tab gets no animation frames, and its log must not pile up as text either.
    const draw = () => {
      this.#drawing = false;
      this.#draw();
    };
    if (document.hidden) setTimeout(draw, 500);
    else requestAnimationFrame(draw);
  }

  #draw() {
    const { done, open } = this.ansi.feed(this.#queue);
    this.#queue = "";
    this.#open?.remove();
    this.lines.append(...done.slice(-KEEP_LINES).map(lineElement));
    this.#open = open.length ? lineElement(open) : null;
    if (this.#open) this.lines.append(this.#open);
    this.#trim(Math.max(0, done.length - KEEP_LINES));
    if (this.follow) this.lines.scrollTop = this.lines.scrollHeight;
    this.#state(this.state);
    if (this.input.value) this.#findSoon();
  }

  #trim(skipped) {
    const excess = this.lines.childElementCount - KEEP_LINES;
    for (let k = 0; k < excess; k++) this.lines.firstElementChild.remove();
    if (this.dropped && (skipped || excess > 0)) this.dropped.hidden = false;
  }

  #state(state = "live") {
    this.state = state;
    this.root.dataset.state = state;
    const data = this.root.dataset;
    const text = {
      live: data.wordLive,
      lost: data.wordLost,
      unseen: data.wordUnseen,
      complete: data.wordComplete,
      denied: data.wordDenied,
      "signed-out": data.wordSignedOut,
    }[state];
    this.status.textContent = fill(text, { bytes: (this.stream?.offset ?? 0).toLocaleString("en-US") });
    if (state === "complete" && !this.lines.childElementCount && !this.#queue)
      this.lines.dataset.empty = data.wordEmpty;
  }

  #controls() {
    const part = name => this.root.querySelector(`[data-log-${name}]`);
    this.input = part("find");
    this.matches = part("matches");
    this.followButton = part("follow");
    this.input.addEventListener("input", () => this.#findSoon());
    this.input.addEventListener("keydown", event => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    });
    part("previous").addEventListener("click", () => this.#step(-1));
    part("next").addEventListener("click", () => this.#step(1));
    part("wrap").addEventListener("click", event => {
      const wrapped = this.lines.classList.toggle("wrap");
      event.currentTarget.setAttribute("aria-pressed", wrapped);
    });
    this.followButton.addEventListener("click", () => this.#follow(!this.follow));
    // Scrolling up stops following, scrolling to the end starts it again.
    this.lines.addEventListener(
      "scroll",
      () => {
        const { scrollTop, scrollHeight, clientHeight } = this.lines;
        const atEnd = scrollHeight - scrollTop - clientHeight < 24;
        if (atEnd !== this.follow) this.#follow(atEnd, false);
      },
      { passive: true },
    );
  }

  #follow(wanted, move = true) {
    this.follow = wanted;
    this.followButton.setAttribute("aria-pressed", wanted);
    if (wanted && move) this.lines.scrollTop = this.lines.scrollHeight;
  }

  #step(by) {
    this.#follow(false);
    this.find.step(by);
    this.#counted();
  }

  #findSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.find.search(this.input.value);
      this.#counted();
    }, FIND_MS);
  }

  #counted() {
    const text = this.find.count ? this.matches.dataset.some : this.matches.dataset.none;
    this.matches.textContent = this.input.value.trim()
      ? fill(text, { at: this.find.position, count: this.find.count })
      : "";
  }
}

each("[data-log]", root => new LogPane(root));
