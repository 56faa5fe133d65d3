// However often the connection breaks and whatever the server repeats, each byte of the log arrives once, in order.
import assert from "node:assert/strict";
import test from "node:test";

const LOG = new TextEncoder().encode(Array.from({ length: 400 }, (_, k) => `line ${k} 训练\n`).join(""));

class FakeSocket {
  static opened = [];
  static OPEN = 1;
  constructor(url) {
    this.offset = Number(new URL(url).searchParams.get("offset"));
    FakeSocket.opened.push(this);
  }
  control(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
  bytes(from, to) {
    this.onmessage({ data: LOG.slice(from, to).buffer });
  }
  close() {
    this.onclose?.({ code: 1000 });
  }
}

globalThis.WebSocket = FakeSocket;
globalThis.location = { href: "http://portal.test/training/1/" };
globalThis.document = {};
const waiting = [];
globalThis.setTimeout = callback => waiting.push(callback);

const { LogStream } = await import("../../static/src/js/log-stream.js");

function watch(offset = 0) {
  FakeSocket.opened.length = waiting.length = 0;
  const got = { bytes: [], gaps: [], states: [] };
  const stream = new LogStream("/ws/logs/1/?attempt=2", typeof offset === "number" ? { offset } : offset, {
    alive: () => true,
    bytes: chunk => got.bytes.push(...chunk),
    gap: count => got.gaps.push(count),
    state: state => got.states.push(state),
  });
  const socket = () => FakeSocket.opened.at(-1);
  const drop = () => {
    socket().onclose({ code: 1006 });
    waiting.pop()();
  };
  return { stream, got, socket, drop };
}

test("a broken connection goes on from the byte it had", () => {
  const { stream, got, socket, drop } = watch();
  let at = 0;
  for (const size of [1, 997, 13, 2048, 5]) {
    socket().onopen();
    assert.equal(socket().offset, at);
    socket().control({ offset: at, complete: false });
    socket().bytes(at, at + size);
    at += size;
    drop();
  }
  socket().control({ offset: at, complete: false });
  socket().bytes(at, LOG.length);
  socket().control({ offset: LOG.length, complete: true });
  assert.deepEqual(new Uint8Array(got.bytes), LOG);
  assert.deepEqual(got.gaps, []);
  assert.equal(got.states.at(-1), "complete");
  assert.equal(stream.offset, LOG.length);
});

test("bytes that the server repeats are dropped, across frames", () => {
  const { got, socket, drop } = watch();
  socket().control({ offset: 0, complete: false });
  socket().bytes(0, 100);
  drop();
  socket().control({ offset: 40, complete: false });
  socket().bytes(40, 70);
  socket().bytes(70, 130);
  assert.deepEqual(new Uint8Array(got.bytes), LOG.slice(0, 130));
});

test("a hole in the log is told, not hidden", () => {
  const { stream, got, socket } = watch();
  socket().bytes(0, 10);
  socket().control({ offset: 25, complete: false });
  socket().bytes(25, 30);
  assert.deepEqual(got.gaps, [15]);
  assert.equal(stream.offset, 30);
});

test("a log that has ended is not asked for again", () => {
  const { socket } = watch(7);
  socket().control({ offset: 7, complete: true });
  assert.equal(waiting.length, 0);
  assert.equal(FakeSocket.opened.length, 1);
});

test("a log whose right has ended is not asked for again, and says so", () => {
  const { got, socket } = watch();
  socket().onopen();
  waiting.length = 0;
  socket().onclose({ code: 4403 });
  assert.equal(got.states.at(-1), "denied");
  assert.equal(waiting.length, 0);
});

test("a watcher of the end learns from the server where it begins, and goes on from there", () => {
  const { stream, got, socket, drop } = watch({ tail: 100 });
  assert.equal(stream.offset, null);
  drop();
  socket().control({ offset: 250, complete: false });
  socket().control({ offset: 250, complete: false, times: [[250, 1]] });
  socket().bytes(250, 300);
  drop();
  assert.equal(socket().offset, 300);
  socket().control({ offset: 300, complete: false });
  socket().bytes(300, LOG.length);
  assert.deepEqual(new Uint8Array(got.bytes), LOG.slice(250));
  assert.deepEqual(got.gaps, []);
});
