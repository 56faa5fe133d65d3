// Connections that the server has ended for good: the person is signed out, or may not see this any more.
// The codes are those of apps/tenants/sockets.py.
const SIGNED_OUT = 4401;
const DENIED = new Set([4403, 4404]);
const SETTLED_MS = 5000;

/** Tells an end for good from a connection that broke, for one place that reconnects. */
export class Ending {
  #refused = false;
  #timer = 0;

  opened() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#refused = false), SETTLED_MS);
  }

  /** "denied" | "signed-out" | null: try again. A new password gives this browser a new session: one try with that. */
  of(code) {
    clearTimeout(this.#timer);
    if (DENIED.has(code)) return "denied";
    if (code !== SIGNED_OUT) return null;
    if (this.#refused) return "signed-out";
    this.#refused = true;
    return null;
  }
}

/** What is on the page stays, under words that say that it is not kept up to date any more. */
export function sayEnded(ended) {
  const notice = document.querySelector(`[data-ended="${ended}"]`);
  if (notice) notice.hidden = false;
}
