// Small things that every module needs.

/** Calls `setup(element)` once for each element that matches, now and whenever htmx brings new ones. */
export function each(selector, setup) {
  const seen = new WeakSet();
  const scan = root => {
    const found = root.matches?.(selector)
      ? [root, ...root.querySelectorAll(selector)]
      : root.querySelectorAll(selector);
    for (const element of found) {
      if (seen.has(element)) continue;
      seen.add(element);
      setup(element);
    }
  };
  scan(document);
  document.addEventListener("htmx:load", event => scan(event.target));
}

/** One listener on the document for all elements that match, present and future. */
export function on(type, selector, handler) {
  document.addEventListener(type, event => {
    const element = event.target.closest?.(selector);
    if (element) handler(event, element);
  });
}

/** Fills "{name}" in a text that Django has translated. */
export const fill = (text, values) => (text ?? "").replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

/** Texts of the page as a whole; they live in <template id="pl-words" data-…>, so that gettext covers them. */
export const words = () => document.getElementById("pl-words")?.dataset ?? {};

/** The element that a data attribute names by id, or null. */
export const named = id => (id ? document.getElementById(id.replace(/^#/, "")) : null);

/** A WebSocket address on this host from a path. */
export const socketUrl = path => new URL(path, location.href.replace(/^http/, "ws"));

/** Waits before the next try: 0.5, 1, 2 … 30 s, with jitter, so that a thousand browsers do not return at once. */
export const backoff = tries => Math.min(30_000, 500 * 2 ** tries) * (0.75 + Math.random() / 2);
