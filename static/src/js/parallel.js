// Parallel coordinates: a line for each row over all axes. Drag along an axis, or move its two handles with the arrow
// keys, to keep only what lies between; Escape, or a click on the axis, lets all pass again. Rows without a value pass
// through the foot of the axis. Shades say where a row lies on the axis that colours; see plots.js for the description.
import { Plot, label, svg } from "./plot.js";
import { isWithin, mayBeLog, scaleOf, shadeOf } from "./plot-scale.js";

const TOP = 36,
  HEIGHT = 220,
  FOOT = TOP + HEIGHT + 20,
  LEFT = 30,
  RIGHT = 56,
  APART = 84,
  MOVED = 4; // pixels before a press is a brush

export class Parallel extends Plot {
  constructor(root) {
    super(root);
    this.brushes = this.#parsed("brush", {});
    this.logs = this.#parsed("log", {});
    this.chosen = this.#parsed("axes", null);
    this.colour = this.kept("colour", this.chart.colour);
    this.#controls();
    this.#pointers();
    this.start();
  }

  #parsed(name, plain) {
    try {
      return JSON.parse(this.kept(name, "null")) ?? plain;
    } catch {
      return plain;
    }
  }

  #values = k => this.chart.rows.map(row => row.values[k]);

  /** Axes as they stand: with their place among the values, their scale and where they are drawn. */
  #layout() {
    const axes = this.chart.axes.map((axis, k) => ({ axis, k })).filter(({ axis }) => this.#isShown(axis));
    const apart = axes.length > 1 ? Math.max(APART, (this.width - LEFT - RIGHT) / (axes.length - 1)) : 0;
    this.axes = axes.map(({ axis, k }, place) => ({
      axis,
      k,
      x: LEFT + place * apart,
      scale: scaleOf(axis, this.#values(k), { log: this.#isLog(axis, k) }),
    }));
    this.span = Math.max(this.width, LEFT + apart * (axes.length - 1) + RIGHT);
    const coloured = this.chart.axes.findIndex(axis => axis.key === this.colour),
      axis = this.chart.axes[coloured];
    const scale = axis && scaleOf(axis, this.#values(coloured), { log: this.#isLog(axis, coloured) });
    this.rows = this.chart.rows.map(row => ({
      row,
      places: this.axes.map(each => each.scale.at(row.values[each.k])),
      shade: axis ? shadeOf(axis, scale.at(row.values[coloured])) : 3,
    }));
  }

  #isShown = axis => (this.chosen ? this.chosen.includes(axis.key) : axis.shown);
  #isLog = (axis, k) => mayBeLog(axis, this.#values(k)) && (this.logs[axis.key] ?? axis.kind === "log");
  #y = place => (place == null ? FOOT : TOP + (1 - place) * HEIGHT);

  draw() {
    this.#layout();
    this.lines = svg("g", {}, ...[...this.rows].sort((a, b) => (a.shade ?? -1) - (b.shade ?? -1)).map(each => this.#line(each)));
    this.handles = svg("g");
    const axes = this.axes.map((each, k) => this.#axis(each, k));
    const drawing = svg("svg", { width: this.span, height: FOOT + 16, role: "group", "aria-label": this.root.dataset.label });
    drawing.append(svg("g", {}, ...axes.map(each => each.line)), this.lines, svg("g", {}, ...axes.flatMap(each => each.texts)), this.handles);
    this.show(drawing);
    this.walk([...this.lines.children], mark => this.#tell(mark));
    this.#brushed();
  }

  #line({ row, places, shade }) {
    const points = places.map((place, k) => `${this.axes[k].x},${this.#y(place).toFixed(1)}`).join(" ");
    const text = [row.label, ...this.axes.map(({ axis, k, scale }) => `${axis.label} ${scale.text(row.values[k])}`)].join(" · ");
    const dashed = places.some(place => place == null) ? " gap" : "";
    return this.mark(
      { ...row, text },
      { class: `pl-line t${shade ?? 0}${dashed}`, "data-key": `row:${row.id}` },
      svg("polyline", { points, class: "hit" }),
      svg("polyline", { points }),
    );
  }

  /** The line lies below those of the rows, what is written above them. */
  #axis({ axis, x, scale }, k) {
    const ticks = scale.ticks.map(tick => label(tick.text, 9, { class: "halo", x: x + 9, y: this.#y(tick.at) + 4 }));
    const head = k ? { x, "text-anchor": "middle" } : { x: 2, "text-anchor": "start" };
    const texts = [...ticks, label(axis.label, 13, { ...head, class: "hi", y: 14 })];
    if (scale.kind === "log") texts.push(svg("text", { ...head, y: 27 }, "log"));
    if (this.rows.some(({ places }) => places[k] == null)) texts.push(svg("text", { class: "halo", x: x + 9, y: FOOT + 4 }, this.word("Missing")));
    return { line: svg("line", { class: "base", x1: x, x2: x, y1: TOP, y2: TOP + HEIGHT }), texts };
  }

  #tell(mark) {
    this.lines.classList.toggle("dim", !!mark);
    for (const each of this.lines.children) each.classList.toggle("on", each === mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : this.summary;
  }

  /** The brush of an axis in places; it is kept in values, which outlive a change of the axis' ends. */
  #range({ axis, scale }) {
    const kept = this.brushes[axis.key];
    if (!Array.isArray(kept)) return null;
    const [low, high] = kept.map(value => scale.at(value));
    if (low == null || high == null) return null;
    return [Math.min(low, high), Math.max(low, high)].map(at => Math.min(1, Math.max(0, at)));
  }

  #brushed() {
    const brushes = new Map();
    this.axes.forEach((each, k) => {
      const range = this.#range(each);
      if (range) brushes.set(k, range);
    });
    const hidden = new Set();
    for (const { row, places } of this.rows) if (!isWithin(places, brushes)) hidden.add(row.id);
    for (const line of this.lines.children) line.classList.toggle("off", hidden.has(line.dataset.mark));
    const key = document.activeElement?.dataset?.key;
    this.handles.replaceChildren(...this.axes.flatMap((each, k) => this.#brush(each, brushes.get(k))));
    if (key?.startsWith("end:")) [...this.handles.children].find(each => each.dataset.key === key)?.focus();
    const gaps = this.rows.filter(({ places }) => places.some(place => place == null)).length;
    const said = this.word("Shown", { shown: this.rows.length - hidden.size, all: this.rows.length });
    this.summary = [said, gaps ? this.word("Gaps", { count: gaps }) : ""].filter(Boolean).join(" ");
    this.said.textContent = this.summary;
    this.find("clear").hidden = !brushes.size;
    this.announce(hidden);
  }

  #brush(each, range) {
    const { axis, x, scale } = each,
      [low, high] = range ?? [0, 1],
      text = `${axis.label}: ${scale.text(scale.back(low))} – ${scale.text(scale.back(high))}`;
    const bar = range ? [svg("rect", { class: "brush", x: x - 4, width: 8, y: this.#y(high), height: Math.max(2, this.#y(low) - this.#y(high)), rx: 2 })] : [];
    const hit = svg("rect", { class: "hit", x: x - 14, width: 28, y: TOP - 8, height: HEIGHT + 16, "data-axis": axis.key });
    const ends = [low, high].map((at, end) => {
      const handle = svg("rect", {
        class: `end${range ? " set" : ""}`, x: x - 7, width: 14, y: this.#y(at) - 3, height: 6, rx: 3, tabindex: 0, role: "slider",
        "aria-orientation": "vertical", "aria-label": this.word(end ? "To" : "From", { axis: axis.label }), "aria-valuemin": 0, "aria-valuemax": 100,
        "aria-valuenow": Math.round(at * 100), "aria-valuetext": scale.text(scale.back(at)), "data-axis": axis.key, "data-key": `end:${end}:${axis.key}`,
      });
      handle.addEventListener("keydown", event => this.#key(event, each, [low, high], end));
      return handle;
    });
    hit.append(svg("title", {}, text));
    return [hit, ...bar, ...ends];
  }

  #key(event, { axis, scale }, range, end) {
    const by = 1 / scale.steps,
      target = { ArrowUp: range[end] + by, ArrowRight: range[end] + by, ArrowDown: range[end] - by, ArrowLeft: range[end] - by, Home: end ? range[0] : 0, End: end ? 1 : range[1] }[event.key];
    if (event.key === "Escape") this.#set(axis, scale, null);
    else if (target === undefined) return;
    else this.#set(axis, scale, end ? [range[0], Math.min(1, Math.max(range[0], target))] : [Math.max(0, Math.min(range[1], target)), range[1]]);
    event.preventDefault();
  }

  #set(axis, scale, range) {
    if (!range || (range[0] <= 0 && range[1] >= 1)) delete this.brushes[axis.key];
    else this.brushes[axis.key] = range.map(scale.back);
    this.#keepAll();
    this.#brushed();
  }

  #keepAll() {
    const text = value => (Object.keys(value).length ? JSON.stringify(value) : "");
    this.keep("brush", text(this.brushes));
    this.keep("log", text(this.logs));
    this.keep("axes", this.chosen ? JSON.stringify(this.chosen) : "");
    this.keep("colour", this.colour, this.chart.colour);
  }

  #pointers() {
    let held = null;
    const place = event => 1 - (event.clientY - this.area.getBoundingClientRect().top - TOP) / HEIGHT,
      limited = at => Math.min(1, Math.max(0, at));
    this.area.addEventListener("pointerdown", event => {
      const key = event.target.dataset?.axis,
        each = this.axes?.find(({ axis }) => axis.key === key);
      if (!each || event.button) return;
      const [, end] = event.target.dataset.key?.split(":") ?? [],
        range = this.#range(each) ?? [0, 1];
      held = { each, from: end ? range[1 - +end] : limited(place(event)), y: event.clientY, end, moved: false };
      this.area.setPointerCapture(event.pointerId);
      if (!end) event.preventDefault();
    });
    this.area.addEventListener("pointermove", event => {
      if (!held || (!held.moved && Math.abs(event.clientY - held.y) < MOVED)) return;
      held.moved = true;
      const to = limited(place(event));
      this.#set(held.each.axis, held.each.scale, [Math.min(held.from, to), Math.max(held.from, to)]);
    });
    const release = () => {
      if (held && !held.moved && !held.end) this.#set(held.each.axis, held.each.scale, null);
      held = null;
    };
    this.area.addEventListener("pointerup", release);
    this.area.addEventListener("pointercancel", () => (held = null));
  }

  #controls() {
    const again = () => {
      this.#keepAll();
      this.draw();
    };
    const colour = this.find("colour");
    colour.value = this.colour;
    colour.addEventListener("change", () => {
      this.colour = colour.value;
      again();
    });
    this.find("clear").addEventListener("click", () => {
      this.brushes = {};
      again();
      colour.focus();
    });
    for (const box of this.root.querySelectorAll("[data-plot-axis]")) {
      const axis = this.chart.axes.find(each => each.key === box.value);
      box.checked = this.#isShown(axis);
      box.addEventListener("change", () => {
        this.chosen = [...this.root.querySelectorAll("[data-plot-axis]:checked")].map(each => each.value);
        again();
      });
    }
    for (const box of this.root.querySelectorAll("[data-plot-log]")) {
      const k = this.chart.axes.findIndex(each => each.key === box.value),
        axis = this.chart.axes[k];
      box.closest("label").hidden = !mayBeLog(axis, this.#values(k));
      box.checked = this.#isLog(axis, k);
      box.addEventListener("change", () => {
        this.logs[axis.key] = box.checked;
        again();
      });
    }
  }
}
