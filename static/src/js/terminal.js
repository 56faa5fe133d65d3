// A terminal into a running task: [data-terminal="/ws/…"]. Binary frames both ways, {"resize": [columns, rows]} as text.
import "./style-element.js";
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { fill, socketUrl } from "./dom.js";

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function mount(root) {
  const terminal = new Terminal({
    fontFamily: css("--pl-mono"),
    fontSize: 12.5,
    lineHeight: 1.3,
    scrollback: 5000,
    cursorBlink: true,
    screenReaderMode: false,
    theme: {
      background: css("--pl-term"),
      foreground: css("--pl-term-ink"),
      cursor: css("--pl-term-ink"),
      selectionBackground: "#3a4454",
    },
  });
  const fit = new FitAddon(),
    coder = new TextEncoder();
  terminal.loadAddon(fit);
  terminal.open(root);
  fit.fit();
  const socket = new WebSocket(socketUrl(root.dataset.terminal));
  socket.binaryType = "arraybuffer";
  const resize = () =>
    socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify({ resize: [terminal.cols, terminal.rows] }));
  socket.onopen = resize;
  socket.onmessage = ({ data }) => terminal.write(typeof data === "string" ? data : new Uint8Array(data));
  socket.onclose = event =>
    terminal.write(`\r\n\x1b[2m${fill(root.dataset.wordClosed, { code: event.code })}\x1b[0m\r\n`);
  terminal.onData(data => {
    if (socket.readyState === WebSocket.OPEN) socket.send(coder.encode(data));
  });
  terminal.onResize(resize);
  new ResizeObserver(() => fit.fit()).observe(root);
  terminal.focus();
  return terminal;
}
