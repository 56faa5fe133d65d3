// What the charts of many rows share: SVG, their description, the address, and one tab stop with arrow keys for all marks.
import { fill } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with its attributes; texts among the children are written as text. */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) if (value != null) element.setAttribute(key, value);
  element.append(...children.filter(each => each != null));
  return element;
}

/** A text that keeps to a number of letters; the whole of it is its title. */
export function label(text, length, attributes) {
  const whole = `${text}`;
  if (whole.length <= length) return svg("text", attributes, whole);
  return svg("text", attributes, `${whole.slice(0, length - 1)}…`, svg("title", {}, whole));
}

export class Plot {
  constructor(root) {
    this.root = root;
    this.area = root.querySelector("[data-plot-area]");
    this.said = root.querySelector("[data-plot-said]");
    this.chart = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    this.asked = new URLSearchParams(location.search);
    this.width = 0;
    this.sizes = new ResizeObserver(() => {
      if (this.area.clientWidth === this.width || !this.area.clientWidth) return;
      this.width = this.area.clientWidth;
      this.draw();
    });
  }

  /** Call at the end of the constructor: draws, now and whenever the width changes. */
  start() {
    this.sizes.observe(this.area);
  }

  word(name, values = {}) {
    return fill(this.root.dataset[`word${name}`], values);
  }

  find(name) {
    return this.root.querySelector(`[data-plot-${name}]`);
  }

  /** What the address says of this chart, else what it begins with. */
  kept(name, plain) {
    return this.asked.get(`${this.root.id}-${name}`) ?? plain;
  }

  keep(name, value, plain = "") {
    const url = new URL(location.href),
      key = `${this.root.id}-${name}`;
    if (value === plain) url.searchParams.delete(key);
    else url.searchParams.set(key, value);
    history.replaceState(history.state, "", url);
  }

  /** Marks with data-mark: one of them can be tabbed to, arrows walk on in their order, Enter opens. */
  walk(marks, tell) {
    marks.forEach((mark, k) => {
      mark.setAttribute("tabindex", k ? "-1" : "0");
      mark.addEventListener("focus", () => tell(mark));
      mark.addEventListener("pointerenter", () => tell(mark));
      mark.addEventListener("pointerleave", () => tell(null));
      mark.addEventListener("blur", () => tell(null));
      mark.addEventListener("keydown", event => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const next = marks[(k + step + marks.length) % marks.length];
        mark.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    });
  }

  /** A mark that opens its row, or only tells of it. */
  mark(row, attributes, ...children) {
    const { url, text } = row;
    return svg(url ? "a" : "g", { ...attributes, href: url || null, role: url ? null : "img", "aria-label": text, "data-mark": row.id }, ...children);
  }

  /** Draws anew without losing the place of whoever works with the keys: data-key names it. */
  show(drawing) {
    const key = this.area.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.area.replaceChildren(drawing);
    if (key) [...this.area.querySelectorAll("[data-key]")].find(each => each.dataset.key === key)?.focus();
  }

  /** The rows that are brushed away, to every chart and table of the same group. */
  announce(hidden) {
    const group = this.root.dataset.plotGroup;
    for (const each of this.root.querySelectorAll("[data-plot-row]")) each.hidden = hidden.has(each.dataset.plotRow);
    if (group) document.dispatchEvent(new CustomEvent("pl:brushed", { detail: { group, hidden } }));
  }

  /** A chart that a page has replaced listens no more. */
  onBrushed(take) {
    const listen = ({ detail }) => {
      if (!this.root.isConnected) document.removeEventListener("pl:brushed", listen);
      else if (detail.group && detail.group === this.root.dataset.plotGroup) take(detail.hidden);
    };
    document.addEventListener("pl:brushed", listen);
  }
}
