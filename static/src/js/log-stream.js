// The bytes of a log over a WebSocket, each exactly once however often the connection breaks.
//
//   /ws/logs/<workload>/?offset=N   binary frames: bytes of the log, in order, from offset N on
//                      or ?tail=N   from the line on that has the byte N before the end
//                                   text frames: {"offset": n, "complete": bool, "times": [[offset, Unix ms], …]}; with "cut": true
//                                   the log became shorter than what was sent, and goes on from `offset`
// `offset` says where the next binary byte belongs: behind ours means that the server repeats (dropped here), ahead of
// ours means that bytes are gone (reported as a gap). `complete` means that the log has ended at `offset`.
import { backoff, socketUrl } from "./dom.js";
import { Ending } from "./ended.js";

const OUT_OF_SIGHT = 4503; // of apps/tenants/sockets.py
const UNSEEN_MS = 15000;

export class LogStream {
  #path;
  #tail;
  #socket = null;
  #tries = 0;
  #drop = 0;
  #closed = false;
  #begun = false;
  #ending = new Ending();

  /**
   * start: {offset} or {tail}, both in bytes.
   * listener: {begin(offset), times(list), bytes(Uint8Array), gap(count), cut(offset), state(name), alive() → bool}; `begin` comes
   * once, with the offset of the first byte. States are live, lost, unseen (its machine does not answer), complete,
   * denied and signed-out.
   */
  constructor(path, start, listener) {
    this.#path = path;
    this.#tail = start.tail;
    this.offset = start.offset ?? null;
    this.listener = listener;
    this.#connect();
  }

  #connect() {
    if (!this.listener.alive()) return;
    const url = socketUrl(this.#path);
    if (this.offset === null) url.searchParams.set("tail", this.#tail);
    else url.searchParams.set("offset", this.offset);
    this.#drop = 0;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => {
      this.#tries = 0;
      this.#ending.opened();
      this.listener.state("live");
    };
    this.#socket.onmessage = ({ data }) =>
      typeof data === "string" ? this.#control(JSON.parse(data)) : this.#bytes(new Uint8Array(data));
    this.#socket.onclose = ({ code }) => {
      if (this.#closed) return;
      const ended = this.#ending.of(code);
      if (ended) return this.listener.state(ended);
      const unseen = code === OUT_OF_SIGHT;
      this.listener.state(unseen ? "unseen" : "lost");
      setTimeout(() => this.#connect(), unseen ? UNSEEN_MS : backoff(this.#tries++));
    };
  }

  #bytes(chunk) {
    if (!this.listener.alive()) return this.close();
    const repeated = Math.min(this.#drop, chunk.length);
    this.#drop -= repeated;
    const fresh = chunk.subarray(repeated);
    this.offset += fresh.length;
    if (fresh.length) this.listener.bytes(fresh);
  }

  #control({ offset, complete, times, cut }) {
    if (cut) {
      this.offset = offset;
      this.#drop = 0;
      return this.listener.cut?.(offset);
    }
    if (!this.#begun) {
      this.#begun = true;
      this.offset ??= offset;
      this.listener.begin?.(this.offset);
    }
    if (times) this.listener.times?.(times);
    if (offset > this.offset) {
      this.listener.gap(offset - this.offset);
      this.offset = offset;
    } else this.#drop = this.offset - offset;
    if (!complete) return;
    this.close();
    this.listener.state("complete");
  }

  close() {
    this.#closed = true;
    this.#socket.onmessage = null; // what is on its way is nobody's any more
    this.#socket.close();
  }
}
