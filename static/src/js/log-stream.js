// The bytes of a log over a WebSocket, each exactly once however often the connection breaks.
//
//   /ws/logs/<workload>/?offset=N   binary frames: bytes of the log, in order, from offset N on
//                                   text frames: {"offset": n, "complete": bool}
// `offset` says where the next binary byte belongs: behind ours means that the server repeats (dropped here), ahead of
// ours means that bytes are gone (reported as a gap). `complete` means that the log has ended at `offset`.
import { backoff, socketUrl } from "./dom.js";
import { Ending } from "./ended.js";

const OUT_OF_SIGHT = 4503; // of apps/tenants/sockets.py
const UNSEEN_MS = 15000;

export class LogStream {
  #path;
  #socket = null;
  #tries = 0;
  #drop = 0;
  #closed = false;
  #ending = new Ending();

  /**
   * listener: {bytes(Uint8Array), gap(count), state(name), alive() → bool}; states are live, lost, unseen (its machine
   * does not answer), complete, denied and signed-out.
   */
  constructor(path, offset, listener) {
    this.#path = path;
    this.offset = offset;
    this.listener = listener;
    this.#connect();
  }

  #connect() {
    if (!this.listener.alive()) return;
    const url = socketUrl(this.#path);
    url.searchParams.set("offset", this.offset);
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

  #control({ offset, complete }) {
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
    this.#socket.close();
  }
}
