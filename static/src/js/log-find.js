// Find in a log pane. Matches are painted by the highlight registry, so the lines stay untouched and keep arriving.

const PAINTED = 2000;

function rangesIn(line, wanted) {
  const text = line.textContent.toLowerCase(),
    ranges = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    ranges.push(range(line, at, at + wanted.length));
  return ranges;
}

function range(line, from, to) {
  const found = document.createRange(),
    walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  let passed = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const end = passed + node.length;
    if (from >= passed && from < end) found.setStart(node, from - passed);
    if (to > passed && to <= end) {
      found.setEnd(node, to - passed);
      break;
    }
    passed = end;
  }
  return found;
}

export class LogFind {
  #lines;
  #ranges = [];
  #at = -1;
  #wanted = "";

  constructor(lines) {
    this.#lines = lines;
  }

  get count() {
    return this.#ranges.length;
  }
  get position() {
    return this.#at + 1;
  }

  /** Looks for `text` in all lines shown; keeps the place where it can. */
  search(text) {
    this.#wanted = text.trim().toLowerCase();
    this.#ranges = this.#wanted ? [...this.#lines.children].flatMap(line => rangesIn(line, this.#wanted)) : [];
    this.#at = this.#ranges.length ? Math.min(Math.max(this.#at, 0), this.#ranges.length - 1) : -1;
    this.#paint();
  }

  step(by) {
    if (!this.#ranges.length) return;
    this.#at = (this.#at + by + this.#ranges.length) % this.#ranges.length;
    this.#ranges[this.#at].startContainer.parentElement?.scrollIntoView({ block: "center", inline: "nearest" });
    this.#paint();
  }

  #paint() {
    if (!window.Highlight) return;
    CSS.highlights.set("pl-found", new Highlight(...this.#ranges.slice(0, PAINTED)));
    CSS.highlights.set("pl-found-now", new Highlight(...(this.#at >= 0 ? [this.#ranges[this.#at]] : [])));
  }
}
