// A terminal into a running program: [data-terminal="/ws/terminals/<workload>/?rank=0"].
//
// Binary frames are the terminal's bytes, both ways. We say how much was drawn, {"drawn": bytes}, without which the
// server sends no more than a window; it says how much of what was typed the shell has got, {"taken": bytes}, and what
// lies further ahead than that waits here: a paste of any size.
import "./style-element.js";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { fill, socketUrl } from "./dom.js";
import { pasteable } from "./pasteable.js";

const FRAME = 16 * 1024;
const AHEAD = 64 * 1024; // bytes that the shell has not got yet
const TOLD_EVERY = 32 * 1024;
const INTERRUPT = "\x03";
const FINAL = new Set([4401, 4403, 4404, 4410]); // of apps/tenants/sockets.py: nothing to connect to any more

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class Shell {
  #socket = null;
  #typed = []; // not sent yet
  #sent = 0;
  #taken = 0;
  #drawn = 0;
  #told = 0;
  #exit = null;
  #coder = new TextEncoder();

  constructor(root, terminal) {
    this.root = root;
    this.words = root.dataset;
    this.terminal = terminal;
    this.card = root.closest("section");
    this.status = this.card.querySelector("[data-terminal-status]");
    this.again = this.card.querySelector("[data-terminal-again]");
    this.again.addEventListener("click", () => this.connect());
    terminal.onData(text => this.type(text));
    terminal.onResize(() => this.resized());
  }

  connect() {
    this.#typed = [];
    this.#sent = this.#taken = this.#drawn = this.#told = 0;
    this.#exit = null;
    this.terminal.reset();
    this.#state("connecting", this.words.wordConnecting);
    const socket = (this.#socket = new WebSocket(socketUrl(this.words.terminal)));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.resized();
    socket.onmessage = ({ data }) =>
      socket !== this.#socket ? null : typeof data === "string" ? this.#hear(JSON.parse(data)) : this.#draw(new Uint8Array(data));
    socket.onclose = ({ code }) => socket === this.#socket && this.#closed(code);
  }

  close() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  type(text) {
    if (this.root.dataset.state !== "open") return;
    if (text === INTERRUPT) this.#typed = []; // what waits behind it is not wanted any more
    const bytes = this.#coder.encode(text);
    for (let at = 0; at < bytes.length; at += FRAME) this.#typed.push(bytes.subarray(at, at + FRAME));
    this.#send();
  }

  resized() {
    this.#tell({ resize: [this.terminal.cols, this.terminal.rows] });
  }

  #send() {
    while (this.#typed.length && this.#sent - this.#taken < AHEAD) {
      const piece = this.#typed.shift();
      this.#sent += piece.length;
      this.#socket.send(piece);
    }
  }

  #tell(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #draw(bytes) {
    const socket = this.#socket;
    this.terminal.write(bytes, () => {
      if (socket !== this.#socket) return;
      this.#drawn += bytes.length;
      if (this.#drawn - this.#told < TOLD_EVERY) return;
      this.#told = this.#drawn;
      this.#tell({ drawn: this.#drawn });
    });
  }

  #hear(message) {
    if ("open" in message) {
      this.#state("open", this.words.wordOpen);
      this.resized();
      this.terminal.focus();
    }
    if ("taken" in message) {
      this.#taken = message.taken;
      this.#send();
    }
    if ("exit" in message) this.#exit = message.exit;
  }

  #closed(code) {
    this.#socket = null;
    const said = this.#exit === null ? (this.words[`word${code}`] ?? this.words.wordBroken) : this.words.wordExit;
    this.#state(FINAL.has(code) ? "final" : "closed", fill(said, { code: this.#exit ?? code }));
  }

  #state(name, text) {
    this.root.dataset.state = name;
    this.status.textContent = text;
    this.again.hidden = name !== "closed";
    this.terminal.options.disableStdin = name !== "open";
    this.terminal.options.cursorBlink = name === "open";
  }
}

function paste(terminal, event) {
  event.preventDefault();
  event.stopPropagation();
  const text = event.clipboardData?.getData("text/plain");
  if (text) terminal.paste(pasteable(text));
}

export function mount(root) {
  const terminal = new Terminal({
    fontFamily: css("--pl-mono"),
    fontSize: 12.5,
    lineHeight: 1.3,
    scrollback: 5000,
    screenReaderMode: false,
    theme: {
      background: css("--pl-term"),
      foreground: css("--pl-term-ink"),
      cursor: css("--pl-term-ink"),
      selectionBackground: "#3a4454",
    },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(root);
  root.addEventListener("paste", event => paste(terminal, event), { capture: true });
  fit.fit();
  const shell = new Shell(root, terminal);
  shell.connect();
  const sizes = new ResizeObserver(() => {
    if (root.isConnected) return fit.fit();
    sizes.disconnect(); // the page shows something else now
    shell.close();
    terminal.dispose();
  });
  sizes.observe(root);
  return terminal;
}
