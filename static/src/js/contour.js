// What is expected over two parameters, in shaded cells, with the trials that it was learnt from; see plots.js for the
// description. The place of the pointer says what is expected there.
import { Plot, label, svg } from "./plot.js";
import { scaleOf, shadeOf, short } from "./plot-scale.js";

const HEIGHT = 260,
  TOP = 10,
  LEFT = 66,
  RIGHT = 14,
  BOTTOM = 40;

export class Contour extends Plot {
  constructor(root) {
    super(root);
    const { cells, spots, better } = this.chart,
      values = [...cells.flat().filter(each => each != null), ...spots.map(each => each.value)];
    this.axis = { kind: "number", better };
    this.scale = scaleOf(this.axis, values);
    const known = cells.flat().filter(each => each != null);
    this.summary = known.length ? this.word("Range", { low: short(Math.min(...known)), high: short(Math.max(...known)) }) : "";
    this.start();
  }

  draw() {
    const { x, y, cells, spots } = this.chart;
    this.wide = (this.width - LEFT - RIGHT) / x.texts.length;
    this.high = HEIGHT / y.texts.length;
    const drawing = svg("svg", { width: this.width, height: TOP + HEIGHT + BOTTOM, role: "group", "aria-label": this.root.dataset.label });
    const rects = cells.flatMap((row, up) => row.map((value, across) => this.#cell(value, across, up)));
    const field = svg("g", {}, ...rects.filter(Boolean));
    field.addEventListener("pointerover", ({ target }) => this.#expect(target));
    field.addEventListener("pointerleave", () => this.#tell(null));
    this.marks = svg("g", {}, ...spots.map(each => this.#mark(each)));
    drawing.append(field, this.#frame(), this.marks);
    this.show(drawing);
    this.walk([...this.marks.children], mark => this.#tell(mark));
    this.#tell(null);
  }

  #cell(value, across, up) {
    if (value == null) return null;
    const spot = { x: LEFT + across * this.wide, y: TOP + HEIGHT - (up + 1) * this.high };
    return svg("rect", { class: `cell t${shadeOf(this.axis, this.scale.at(value))}`, ...spot, width: this.wide, height: this.high, "data-at": `${across},${up}` });
  }

  #frame() {
    const { x, y } = this.chart,
      floor = TOP + HEIGHT;
    const every = (count, room) => Math.max(1, Math.ceil(count / Math.max(2, room)));
    const across = every(x.texts.length, Math.floor((this.width - LEFT - RIGHT) / 64)),
      up = every(y.texts.length, 7);
    return svg(
      "g",
      {},
      svg("line", { class: "base", x1: LEFT, x2: this.width - RIGHT, y1: floor, y2: floor }),
      ...x.texts.flatMap((text, k) => (k % across ? [] : [label(text, 10, { x: LEFT + (k + 0.5) * this.wide, y: floor + 15, "text-anchor": "middle" })])),
      ...y.texts.flatMap((text, k) => (k % up ? [] : [label(text, 9, { x: LEFT - 6, y: floor - (k + 0.5) * this.high + 4, "text-anchor": "end" })])),
      label(x.label, 40, { class: "hi", x: this.width - RIGHT, y: floor + 33, "text-anchor": "end" }),
      label(y.label, 30, { class: "hi halo", x: LEFT + 6, y: TOP + 14 }),
    );
  }

  #mark(trial) {
    const spot = { cx: LEFT + trial.across * (this.width - LEFT - RIGHT), cy: TOP + (1 - trial.up) * HEIGHT };
    const text = `#${trial.number} · ${this.chart.name} ${short(trial.value)}`;
    return this.mark(
      { id: trial.number, url: trial.url, text },
      { class: `pl-dot t${shadeOf(this.axis, this.scale.at(trial.value))}`, "data-key": `row:${trial.number}` },
      svg("circle", { ...spot, r: 10, class: "hit" }),
      svg("circle", { ...spot, r: 4.5 }),
    );
  }

  #expect({ dataset }) {
    if (!dataset.at) return;
    const [across, up] = dataset.at.split(",").map(Number),
      { x, y, cells } = this.chart;
    this.said.textContent = this.word("Expected", { x: `${x.label} ${x.texts[across]}`, y: `${y.label} ${y.texts[up]}`, value: short(cells[up][across]) });
  }

  #tell(mark) {
    for (const each of this.marks.children) each.classList.toggle("on", each === mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : this.summary;
  }
}
