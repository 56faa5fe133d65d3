// Slices: one small scatter for each parameter, all with the same measure upwards, so that one sees where each of them
// should lie. The later a trial, the stronger its shade: a search that learns moves there. Reads the rows and axes of parallel coordinates;
// parameters are the axes whose key begins with "p."; see plots.js for the description.
import { Plot, label, svg } from "./plot.js";
import { mayBeLog, scaleOf } from "./plot-scale.js";

const HEIGHT = 130,
  TOP = 10,
  BOTTOM = 38,
  LEFT = 54,
  RIGHT = 12,
  LEAST = 230; // pixels for each

export class Slices extends Plot {
  constructor(root) {
    super(root);
    this.picked = this.kept("y", this.chart.y);
    this.hidden = new Set();
    const select = this.find("y");
    select.value = this.picked;
    select.addEventListener("change", () => {
      this.picked = select.value;
      this.keep("y", select.value, this.chart.y);
      this.draw();
    });
    this.onBrushed(hidden => {
      this.hidden = hidden;
      this.#brushed();
    });
    this.start();
  }

  #values = k => this.chart.rows.map(row => row.values[k]);

  draw() {
    const { axes, rows } = this.chart,
      up = Math.max(0, axes.findIndex(each => each.key === this.picked));
    const shown = axes.map((axis, k) => ({ axis, k })).filter(({ axis }) => axis.key.startsWith("p."));
    const columns = Math.max(1, Math.min(shown.length, Math.floor(this.width / LEAST))),
      wide = this.width / columns,
      lines = Math.ceil(shown.length / columns);
    this.up = { axis: axes[up], k: up, scale: scaleOf(axes[up], this.#values(up), { pad: 0.06 }) };
    const drawing = svg("svg", { width: this.width, height: lines * (TOP + HEIGHT + BOTTOM), role: "group", "aria-label": this.root.dataset.label });
    const all = shown.map(({ axis, k }, place) => {
      const values = this.#values(k),
        log = axis.kind === "log" && mayBeLog(axis, values);
      const box = { left: (place % columns) * wide, top: Math.floor(place / columns) * (TOP + HEIGHT + BOTTOM), wide };
      return { axis, k, log, box, scale: scaleOf(axis, values, { log, pad: 0.06 }) };
    });
    this.marks = svg("g", {}, ...all.flatMap(each => rows.flatMap((row, k) => this.#mark(each, row, (5 * k) / rows.length) ?? [])));
    drawing.append(...all.map(each => this.#frame(each)), this.marks);
    this.show(drawing);
    this.walk([...this.marks.children], mark => this.#tell(mark));
    this.#brushed();
  }

  #x = ({ box, scale }, at) => {
    const inset = scale.kind === "category" ? 0.1 : 0;
    return box.left + LEFT + (inset + at * (1 - 2 * inset)) * (box.wide - LEFT - RIGHT);
  };
  #y = ({ box }, at) => box.top + TOP + (1 - at) * HEIGHT;

  #frame(each) {
    const { axis, log, box, scale } = each,
      right = box.left + box.wide - RIGHT,
      floor = box.top + TOP + HEIGHT;
    const every = Math.ceil(scale.ticks.length / Math.max(2, Math.floor((box.wide - LEFT - RIGHT) / 56)));
    return svg(
      "g",
      {},
      ...this.up.scale.ticks.flatMap(tick => [
        svg("line", { class: "grid", x1: box.left + LEFT, x2: right, y1: this.#y(each, tick.at), y2: this.#y(each, tick.at) }),
        label(tick.text, 8, { x: box.left + LEFT - 6, y: this.#y(each, tick.at) + 4, "text-anchor": "end" }),
      ]),
      svg("line", { class: "base", x1: box.left + LEFT, x2: right, y1: floor, y2: floor }),
      ...scale.ticks.filter((_, k) => k % every === 0).map(tick => label(tick.text, 9, { x: this.#x(each, tick.at), y: floor + 15, "text-anchor": "middle" })),
      label(`${axis.label}${log ? " (log)" : ""}`, 28, { class: "hi", x: right, y: floor + 31, "text-anchor": "end" }),
    );
  }

  #mark(each, row, age) {
    const at = [each.scale.at(row.values[each.k]), this.up.scale.at(row.values[this.up.k])];
    if (at.includes(null)) return null;
    const text = [row.label, ...[each, this.up].map(({ axis, k, scale }) => `${axis.label} ${scale.text(row.values[k])}`)].join(" · ");
    const spot = { cx: this.#x(each, at[0]), cy: this.#y(each, at[1]) };
    return this.mark(
      { ...row, text },
      { class: `pl-dot t${Math.min(4, Math.floor(age))}`, "data-key": `${each.axis.key}:${row.id}` },
      svg("circle", { ...spot, r: 9, class: "hit" }),
      svg("circle", { ...spot, r: 4 }),
    );
  }

  /** One trial is told in all slices at once. */
  #tell(mark) {
    for (const each of this.marks.children) each.classList.toggle("on", Boolean(mark) && each.dataset.mark === mark.dataset.mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : "";
  }

  #brushed() {
    for (const each of this.marks?.children ?? []) each.classList.toggle("off", this.hidden.has(each.dataset.mark));
  }
}
