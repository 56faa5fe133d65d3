// Scatter: each row is a mark where two axes meet, its shade says a third. Rows that lack one of the two are counted in
// words. Where both axes have a better end, a line joins the Pareto front. Follows what parallel coordinates of the same
// group brush; see plots.js for the description.
import { Plot, label, svg } from "./plot.js";
import { mayBeLog, paretoFront, scaleOf, shadeOf } from "./plot-scale.js";

const HEIGHT = 240,
  TOP = 10,
  LEFT = 58,
  RIGHT = 18,
  BOTTOM = 40;

export class Scatter extends Plot {
  constructor(root) {
    super(root);
    this.hidden = new Set();
    this.picked = { x: this.kept("x", this.chart.x), y: this.kept("y", this.chart.y), colour: this.kept("colour", this.chart.colour) };
    this.logs = { x: this.kept("xlog", ""), y: this.kept("ylog", "") };
    this.#controls();
    this.onBrushed(hidden => {
      this.hidden = hidden;
      this.#brushed();
    });
    this.start();
  }

  #axis(name) {
    const k = Math.max(0, this.chart.axes.findIndex(each => each.key === this.picked[name]));
    const axis = this.chart.axes[k],
      values = this.chart.rows.map(row => row.values[k]);
    const may = mayBeLog(axis, values),
      log = may && (this.logs[name] ? this.logs[name] === "1" : axis.kind === "log");
    return { axis, k, may, log, scale: scaleOf(axis, values, { log, pad: 0.05 }) };
  }

  draw() {
    const x = this.#axis("x"),
      y = this.#axis("y"),
      colour = this.picked.colour ? this.#axis("colour") : null;
    for (const [name, each] of [["x", x], ["y", y]]) {
      const box = this.find(`${name}log`);
      box.closest("label").hidden = !each.may;
      box.checked = each.log;
    }
    this.#place(x, y);
    const placed = this.chart.rows.flatMap(row => {
      const at = [x.scale.at(row.values[x.k]), y.scale.at(row.values[y.k])];
      return at.includes(null) ? [] : [{ row, at }];
    });
    this.left = this.chart.rows.length - placed.length;
    placed.sort((a, b) => a.at[0] - b.at[0] || a.at[1] - b.at[1]);
    this.marks = svg("g", {}, ...placed.map(each => this.#mark(each, [x, y, colour].filter(Boolean), colour)));
    const drawing = svg("svg", { width: this.width, height: TOP + HEIGHT + BOTTOM, role: "group", "aria-label": this.root.dataset.label });
    drawing.append(this.#frame(x, y), this.#front(x, y, placed), this.marks);
    this.show(drawing);
    this.walk([...this.marks.children], mark => this.#tell(mark));
    this.#brushed();
  }

  #place(x, y) {
    const inset = each => (each.scale.kind === "category" ? 0.06 : 0);
    this.x = at => LEFT + (inset(x) + at * (1 - 2 * inset(x))) * (this.width - LEFT - RIGHT);
    this.y = at => TOP + (1 - inset(y) - at * (1 - 2 * inset(y))) * HEIGHT;
  }

  #frame(x, y) {
    const room = Math.max(2, Math.floor((this.width - LEFT - RIGHT) / 64)),
      every = Math.ceil(x.scale.ticks.length / room);
    const across = x.scale.ticks.filter((_, k) => k % every === 0);
    return svg(
      "g",
      {},
      ...y.scale.ticks.flatMap(tick => [
        svg("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: this.y(tick.at), y2: this.y(tick.at) }),
        label(tick.text, 8, { x: LEFT - 6, y: this.y(tick.at) + 4, "text-anchor": "end" }),
      ]),
      svg("line", { class: "base", x1: LEFT, x2: this.width - RIGHT, y1: TOP + HEIGHT, y2: TOP + HEIGHT }),
      ...across.map(tick => label(tick.text, 10, { x: this.x(tick.at), y: TOP + HEIGHT + 15, "text-anchor": "middle" })),
      label(`${x.axis.label}${x.log ? " (log)" : ""}`, 40, { class: "hi", x: this.width - RIGHT, y: TOP + HEIGHT + 33, "text-anchor": "end" }),
    );
  }

  /** A staircase: what lies behind it is beaten by a row on it. */
  #front(x, y, placed) {
    this.front = 0;
    if (x.k === y.k || !x.axis.better || !y.axis.better) return svg("g");
    const points = placed.map(({ row, at }) => [row.values[x.k], row.values[y.k], at]),
      found = paretoFront(points, x.axis.better, y.axis.better);
    this.front = found.length;
    const across = x.axis.better === "low",
      spots = found.map(([, , at]) => [this.x(at[0]), this.y(at[1])]);
    const steps = spots.map(([left, top], k) => (k ? (across ? `H${left}V${top}` : `V${top}H${left}`) : `M${left} ${top}`));
    return svg("path", { class: "best", d: steps.join("") });
  }

  #mark({ row, at }, axes, colour) {
    const shade = colour ? shadeOf(colour.axis, colour.scale.at(row.values[colour.k])) : 3;
    const said = [...new Map(axes.map(each => [each.axis.key, each])).values()];
    const text = [row.label, ...said.map(({ axis, k, scale }) => `${axis.label} ${scale.text(row.values[k])}`)].join(" · ");
    const spot = { cx: this.x(at[0]), cy: this.y(at[1]) };
    return this.mark(
      { ...row, text },
      { class: `pl-dot ${shade == null ? "none" : `t${shade}`}`, "data-key": `row:${row.id}` },
      svg("circle", { ...spot, r: 11, class: "hit" }),
      svg("circle", { ...spot, r: 5 }),
    );
  }

  #tell(mark) {
    for (const each of this.marks.children) each.classList.toggle("on", each === mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : this.summary;
  }

  #brushed() {
    if (!this.marks) return;
    for (const each of this.marks.children) each.classList.toggle("off", this.hidden.has(each.dataset.mark));
    for (const each of this.root.querySelectorAll("[data-plot-row]")) each.hidden = this.hidden.has(each.dataset.plotRow);
    this.summary = [this.front ? this.word("Front", { count: this.front }) : "", this.left ? this.word("Left", { count: this.left }) : ""].filter(Boolean).join(" ");
    this.said.textContent = this.summary;
  }

  #controls() {
    for (const name of ["x", "y", "colour"]) {
      const select = this.find(name);
      select.value = this.picked[name];
      select.addEventListener("change", () => {
        this.picked[name] = select.value;
        this.keep(name, select.value, this.chart[name]);
        if (name !== "colour") this.#keepLog(name, "");
        this.draw();
      });
    }
    for (const name of ["x", "y"])
      this.find(`${name}log`).addEventListener("change", ({ target }) => {
        this.#keepLog(name, target.checked ? "1" : "0");
        this.draw();
      });
  }

  #keepLog(name, value) {
    this.logs[name] = value;
    this.keep(`${name}log`, value);
  }
}
