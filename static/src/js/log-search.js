// A search of the whole log on the server, answer by answer, and on as the log grows. See "search" of the API.

const MAX_HITS = 20_000; // that are kept; beyond, the count says "more than"

export class LogSearch {
  #aborter = null;
  hits = [];
  at = -1;
  text = "";
  matchCase = false;
  complete = false;
  scanned = 0;
  failed = "";

  /** `ask(parameters, signal)` → the API's answer. `changed()`: after each answer. */
  constructor(ask, changed) {
    this.ask = ask;
    this.changed = changed;
  }

  get isFull() {
    return this.hits.length >= MAX_HITS;
  }
  get isBusy() {
    return this.#aborter !== null;
  }

  start(text, matchCase) {
    this.#aborter?.abort();
    this.#aborter = null;
    this.text = text;
    this.matchCase = matchCase;
    this.hits = [];
    this.at = -1;
    this.scanned = 0;
    this.complete = !text;
    this.failed = "";
    if (text) this.#scan();
    else this.changed();
  }

  /** Go on where the log was at its end. */
  more() {
    if (!this.complete && !this.isBusy && !this.isFull && this.text) this.#scan();
  }

  async #scan() {
    const aborter = (this.#aborter = new AbortController());
    try {
      for (;;) {
        const asked = { text: this.text, case: this.matchCase, offset: this.scanned };
        const answer = await this.ask(asked, aborter.signal);
        if (aborter.signal.aborted) return;
        const before = this.scanned;
        this.hits.push(...answer.hits);
        this.scanned = answer.next_offset;
        this.complete = answer.complete;
        this.failed = "";
        if (answer.complete || this.isFull || (!answer.hits.length && this.scanned - before < 65536)) break;
        this.changed();
      }
    } catch (error) {
      if (aborter.signal.aborted) return;
      this.failed = error.message || String(error);
    }
    this.#aborter = null;
    this.changed();
  }

  /** The hit that is next from a byte on, or before it. */
  from(offset, by) {
    const after = this.hits.findIndex(hit => hit.offset >= offset);
    if (by > 0) return after < 0 ? 0 : after;
    return (after < 0 ? this.hits.length : after) - 1;
  }

  /** Makes the next hit, or the one before, the present one, and returns it; round at either end. */
  step(by, offset) {
    if (!this.hits.length) return null;
    const next = this.at < 0 ? this.from(offset, by) : this.at + by;
    this.at = (next + this.hits.length) % this.hits.length;
    return this.hits[this.at];
  }
}
