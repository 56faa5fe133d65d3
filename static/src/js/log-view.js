// The lines of a log in CodeMirror, which draws those in sight only, selects across the rest, and keeps its place when
// lines are put in above. The document has a line for each row of log-rows.js.
import "./style-element.js";
import { Compartment, EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutter } from "@codemirror/view";
import { folds, lastAtOrBefore } from "./log-rows.js";

const CUT = 2000; // characters of a line that are shown until one asks for all
const NEAR_END = 24; // pixels
const COLOURS = 2048;

const refresh = StateEffect.define();
const setFolds = StateEffect.define();

const foldField = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    const set = transaction.effects.find(effect => effect.is(setFolds));
    return set ? set.value : value.map(transaction.changes);
  },
  provide: field => EditorView.decorations.from(field),
});

class Button extends WidgetType {
  constructor(text, act, classes = "") {
    super();
    this.text = text;
    this.act = act;
    this.classes = classes;
  }
  eq(other) {
    return other.text === this.text && other.classes === this.classes;
  }
  toDOM() {
    const button = document.createElement("button");
    button.type = "button";
    button.className = `pl-log-more ${this.classes}`;
    button.textContent = this.text;
    button.addEventListener("click", event => this.act(event));
    return button;
  }
  ignoreEvent() {
    return true;
  }
  get estimatedHeight() {
    return this.classes ? 20 : -1;
  }
}

class Mark extends GutterMarker {
  constructor(text) {
    super();
    this.text = text;
  }
  eq(other) {
    return other.text === this.text;
  }
  toDOM() {
    return document.createTextNode(this.text);
  }
}

const sheet = new CSSStyleSheet();
const classes = new Map();

/** The policy of the pages refuses style attributes, so each colour beyond the sixteen becomes a class. */
function colourClass(property, colour) {
  if (typeof colour === "number") return `${property === "color" ? "fg" : "bg"}-${colour}`;
  const key = `${property}:${colour}`;
  if (!classes.has(key)) {
    if (classes.size >= COLOURS) return "";
    if (!classes.size) document.adoptedStyleSheets.push(sheet);
    classes.set(key, `pl-c${classes.size}`);
    sheet.insertRule(`.pl-log .${classes.get(key)} { ${property}: ${colour} }`);
  }
  return classes.get(key);
}

const marks = new Map();

function markOf(style) {
  const names = ["bold", "dim", "italic", "underline"].filter(name => style[name]);
  if (style.fg !== null) names.push(colourClass("color", style.fg));
  if (style.bg !== null) names.push(colourClass("background-color", style.bg));
  return mark(names.join(" "));
}

function mark(name) {
  if (!marks.has(name)) marks.set(name, Decoration.mark({ class: name }));
  return marks.get(name);
}

const picked = Decoration.line({ class: "pl-log-picked" });

/** Where a text stands in another, without regard to case unless told. */
export function placesIn(text, wanted, matchCase) {
  const places = [];
  if (!wanted) return places;
  const folded = matchCase ? text : text.toLowerCase(),
    needle = matchCase ? wanted : wanted.toLowerCase();
  if (folded.length !== text.length) return places;
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) places.push(at);
  return places;
}

export class LogView {
  rows = [];
  folding = true;
  found = { text: "", matchCase: false, now: null, nth: 0 };
  picked = null;
  #foldsOf = "";
  #options = { times: new Compartment(), bytes: new Compartment(), wrap: new Compartment() };

  /** `words`: label, folded, all, states. `acts`: pick(row), unroll(row), scrolled(), measured(), follows(),
   * key(event) → handled. */
  constructor(parent, words, acts) {
    this.words = words;
    this.acts = acts;
    const log = this;
    const lines = ViewPlugin.fromClass(
      class {
        constructor(view) {
          this.decorations = log.decorate(view);
        }
        update(update) {
          const asked = update.transactions.some(one => one.effects.some(effect => effect.is(refresh)));
          if (update.docChanged || update.viewportChanged || asked) this.decorations = log.decorate(update.view);
        }
      },
      { decorations: plugin => plugin.decorations },
    );
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        extensions: [
          EditorState.readOnly.of(true),
          foldField,
          lines,
          this.#options.times.of([]),
          this.#options.bytes.of([]),
          this.#options.wrap.of([]),
          EditorView.theme(
            {
              "&": { maxHeight: "var(--h, 340px)", color: "inherit" },
              ".cm-scroller": { fontFamily: "var(--pl-mono)", lineHeight: "20px", overflow: "auto" },
              ".cm-content": { padding: "10px 0", caretColor: "transparent" },
              ".cm-line": { padding: "0 12px" },
              "&.cm-focused": { outline: "none" },
              ".cm-gutters": { background: "var(--pl-term)", color: "var(--pl-term-dim)", border: "none" },
              ".cm-gutter .cm-gutterElement": { padding: "0 2px 0 12px", cursor: "pointer" },
            },
            { dark: true },
          ),
          EditorView.contentAttributes.of({
            role: "log",
            "aria-label": words.label,
            "aria-live": "off",
            "aria-readonly": "true",
            inputmode: "none",
          }),
          EditorView.domEventHandlers({ keydown: event => acts.key(event) }),
          EditorView.updateListener.of(update => update.geometryChanged && acts.measured()),
        ],
      }),
    });
    // Before CodeMirror's own, which measures and may tell of it: by then it is known whether one has scrolled up.
    this.view.scrollDOM.addEventListener("scroll", () => acts.scrolled(), { passive: true, capture: true });
  }

  get isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.view.scrollDOM;
    return scrollHeight - scrollTop - clientHeight < NEAR_END;
  }
  get isNearTop() {
    const { scrollTop, clientHeight } = this.view.scrollDOM;
    return scrollTop < 2 * clientHeight;
  }
  get isNearEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.view.scrollDOM;
    return scrollHeight - scrollTop - clientHeight < 2 * clientHeight;
  }

  /** All lines that are there: a browser by itself takes those in sight, and tells of it later. */
  selectAll() {
    this.view.dispatch({ selection: { anchor: 0, head: this.view.state.doc.length } });
  }

  toEnd() {
    const end = () => (this.view.scrollDOM.scrollTop = this.view.scrollDOM.scrollHeight);
    end();
    // Once more when heights are known, unless somebody has scrolled up meanwhile.
    this.view.requestMeasure({ key: "end", read: () => this.acts.follows(), write: follows => follows && end() });
  }
  toTop() {
    this.view.scrollDOM.scrollTop = 0;
  }

  /** The row at the top of what is in sight. */
  topRow() {
    if (!this.rows.length) return null;
    return this.rows[this.view.state.doc.lineAt(this.#topBlock().from).number - 1] ?? null;
  }
  #topBlock() {
    return this.view.lineBlockAtHeight(this.view.scrollDOM.scrollTop - this.view.documentPadding.top);
  }

  /** Other rows in place of all that there are. */
  replace(rows) {
    this.rows = rows;
    const doc = this.view.state.doc;
    this.#dispatch({ from: 0, to: doc.length, insert: text(rows) });
  }

  /** Rows at the end, in place of an open one there; from the beginning, `drop` rows go. */
  append(rows, drop = 0) {
    if (!this.rows.length) return this.replace(rows);
    const doc = this.view.state.doc;
    const replaced = this.rows.at(-1).open ? 1 : 0;
    const kept = this.rows.length - replaced;
    if (drop >= kept) return this.replace([...this.rows.slice(drop, kept), ...rows]);
    const from = replaced ? Math.max(0, doc.line(doc.lines).from - 1) : doc.length;
    const changes = [{ from, to: doc.length, insert: rows.length ? `${kept ? "\n" : ""}${text(rows)}` : "" }];
    if (drop) changes.unshift({ from: 0, to: doc.line(drop + 1).from });
    this.rows.length = kept;
    for (const one of rows) this.rows.push(one);
    if (drop) this.rows.splice(0, drop);
    this.#dispatch(changes);
  }

  /** Rows at the beginning; what is in sight stays there. From the end, `drop` rows go. */
  prepend(rows, drop = 0) {
    if (!rows.length) return;
    if (!this.rows.length) return this.replace(rows);
    const { view } = this,
      { doc } = view.state,
      top = this.#topBlock();
    const inSight = top.top - view.scrollDOM.scrollTop;
    const inserted = `${text(rows)}\n`;
    const changes = [{ from: 0, insert: inserted }];
    const last = this.rows.length - drop;
    if (drop && last > 0) changes.push({ from: doc.line(last).to, to: doc.length });
    this.rows = [...rows, ...this.rows.slice(0, Math.max(1, last))];
    this.#dispatch(changes);
    view.scrollDOM.scrollTop = view.lineBlockAt(top.from + inserted.length).top - inSight;
  }

  /** Another row in place of one, such as one that shows all of a line. */
  exchange(old, row) {
    const index = this.rows.indexOf(old);
    if (index < 0) return;
    this.rows[index] = row;
    const line = this.view.state.doc.line(index + 1);
    this.#dispatch({ from: line.from, to: line.to, insert: row.text });
  }

  #dispatch(changes) {
    const transaction = this.view.state.update({ changes });
    this.view.dispatch({ changes, effects: [this.#folded(transaction.newDoc), refresh.of(null)] });
  }

  redraw() {
    this.view.dispatch({ effects: [this.#folded(this.view.state.doc), refresh.of(null)] });
  }

  #folded(doc) {
    const found = this.folding ? folds(this.rows) : [];
    const builder = new RangeSetBuilder();
    for (const [first, last] of found) {
      const label = this.words.folded(last - first + 1);
      const open = this.rows[first];
      const widget = new Button(label, () => this.unfold(open), "pl-log-folded");
      builder.add(doc.line(first + 1).from, doc.line(last + 1).to, Decoration.replace({ block: true, widget }));
    }
    return setFolds.of(builder.finish());
  }

  /** Shows the rows of the fold that has this one. */
  unfold(row) {
    const index = this.rows.indexOf(row);
    const fold = folds(this.rows).find(([first, last]) => first <= index && index <= last);
    if (!fold) return;
    for (let k = fold[0]; k <= fold[1]; k++) this.rows[k].unfolded = true;
    this.redraw();
  }

  indexOf(offset) {
    const index = lastAtOrBefore(this.rows, offset, row => row.offset);
    return index >= 0 && offset < this.rows[index].end ? index : -1;
  }

  /** Brings the row with this byte into the middle. */
  reveal(offset) {
    const index = this.indexOf(offset);
    if (index < 0) return false;
    if (this.folding) this.unfold(this.rows[index]);
    const { from } = this.view.state.doc.line(index + 1);
    this.view.dispatch({ effects: [EditorView.scrollIntoView(from, { y: "center", x: "start" }), refresh.of(null)] });
    return true;
  }

  decorate(view) {
    const builder = new RangeSetBuilder();
    for (const { from, to } of view.visibleRanges) {
      for (let at = from; at <= to; ) {
        const line = view.state.doc.lineAt(at);
        const row = this.rows[line.number - 1];
        if (row) this.#decorateRow(builder, line, row);
        at = line.to + 1;
      }
    }
    return builder.finish();
  }

  #decorateRow(builder, line, row) {
    const isPicked = this.picked !== null && row.offset <= this.picked && this.picked < Math.max(row.end, row.offset + 1);
    if (isPicked) builder.add(line.from, line.from, picked);
    const shown = row.text.length > CUT && !row.full ? CUT : row.text.length;
    for (const [from, to, decoration] of this.#pieces(row, shown))
      builder.add(line.from + from, line.from + to, decoration);
    if (shown < row.text.length) {
      const label = this.words.all(row.text.length - shown);
      const widget = new Button(label, () => {
        row.full = true;
        this.redraw();
      });
      builder.add(line.from + shown, line.to, Decoration.replace({ widget }));
    } else if (row.overwritten && !row.open && !row.whole) {
      const widget = new Button(this.words.states, () => this.acts.unroll(row));
      builder.add(line.to, line.to, Decoration.widget({ widget, side: 1 }));
    }
  }

  /** Its colours and hits, as [from, to, decoration], in order; a hit lies over the colours. */
  #pieces(row, shown) {
    const { text: wanted, matchCase, now, nth } = this.found;
    const isNow = now !== null && row.offset <= now && now < row.end;
    const hits = placesIn(row.text, wanted, matchCase).filter(at => at < shown);
    const pieces = row.spans.filter(([from]) => from < shown).map(([from, to, style]) => [from, Math.min(to, shown), markOf(style)]);
    hits.forEach((at, k) => {
      const name = isNow && k === Math.min(nth, hits.length - 1) ? "pl-found-now" : "pl-found";
      pieces.push([at, Math.min(at + wanted.length, shown), mark(name)]);
    });
    return pieces.filter(([from, to]) => from < to).sort((a, b) => a[0] - b[0]);
  }

  /** `label(row)`: what stands beside it; null: nothing does. */
  times(label) {
    this.#gutter("times", label, "pl-log-time");
  }
  bytes(label) {
    this.#gutter("bytes", label, "pl-log-byte");
  }
  #gutter(name, label, className) {
    const rowOf = (view, block) => this.rows[view.state.doc.lineAt(block.from).number - 1];
    const extension = label
      ? gutter({
          class: className,
          lineMarker: (view, block) => {
            const row = rowOf(view, block);
            return row ? new Mark(label(row)) : null;
          },
          lineMarkerChange: update => update.transactions.some(one => one.effects.some(effect => effect.is(refresh))),
          domEventHandlers: {
            click: (view, block) => {
              const row = rowOf(view, block);
              if (row) this.acts.pick(row);
              return true;
            },
          },
        })
      : [];
    this.view.dispatch({ effects: this.#options[name].reconfigure(extension) });
  }

  wrap(wanted) {
    this.view.dispatch({ effects: this.#options.wrap.reconfigure(wanted ? EditorView.lineWrapping : []) });
  }
}

const text = rows => rows.map(row => row.text).join("\n");
