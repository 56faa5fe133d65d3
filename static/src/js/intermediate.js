// The objective of each trial while it ran, step by step: a line for each, dashed where it was stopped early or failed,
// in a stronger shade the better it ended; see plots.js for the description.
import { Plot, label, svg } from "./plot.js";
import { mayBeLog, roundTicks, scaleOf, shadeOf, short } from "./plot-scale.js";

const HEIGHT = 220,
  TOP = 10,
  LEFT = 62,
  RIGHT = 18,
  BOTTOM = 40;

export class Intermediate extends Plot {
  constructor(root) {
    super(root);
    this.isLog = this.kept("ylog", "") === "1";
    const box = this.find("ylog");
    box.checked = this.isLog;
    box.addEventListener("change", () => {
      this.isLog = box.checked;
      this.keep("ylog", box.checked ? "1" : "");
      this.draw();
    });
    this.start();
  }

  draw() {
    const { lines, better } = this.chart,
      axis = { kind: "number", better },
      steps = lines.flatMap(each => each.points.map(([step]) => step)),
      values = lines.flatMap(each => each.points.map(([, value]) => value));
    const may = mayBeLog(axis, values);
    this.find("ylog").closest("label").hidden = !may;
    this.y = scaleOf(axis, values, { log: this.isLog && may, pad: 0.04 });
    this.x = scaleOf({ kind: "number" }, steps);
    const ends = lines.map(each => each.points.at(-1)?.[1]),
      end = scaleOf(axis, ends);
    const drawing = svg("svg", { width: this.width, height: TOP + HEIGHT + BOTTOM, role: "group", "aria-label": this.root.dataset.label });
    this.marks = svg("g", {}, ...lines.map((each, k) => this.#line(each, shadeOf(axis, end.at(ends[k])))));
    drawing.append(this.#frame(steps), this.marks);
    this.show(drawing);
    this.walk([...this.marks.children], mark => this.#tell(mark));
  }

  #at = ([step, value]) => [LEFT + this.x.at(step) * (this.width - LEFT - RIGHT), TOP + (1 - this.y.at(value)) * HEIGHT];

  #frame(steps) {
    const floor = TOP + HEIGHT,
      low = Math.min(...steps),
      high = Math.max(...steps);
    const whole = roundTicks(low, high, Math.max(2, Math.floor(this.width / 110))).filter(Number.isInteger);
    return svg(
      "g",
      {},
      ...this.y.ticks.flatMap(tick => {
        const y = TOP + (1 - tick.at) * HEIGHT;
        return [svg("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }), label(tick.text, 8, { x: LEFT - 6, y: y + 4, "text-anchor": "end" })];
      }),
      svg("line", { class: "base", x1: LEFT, x2: this.width - RIGHT, y1: floor, y2: floor }),
      ...whole.map(step => svg("text", { x: this.#at([step, this.chart.lines[0].points[0][1]])[0], y: floor + 15, "text-anchor": "middle" }, `${step}`)),
      label(this.root.dataset.wordStep, 20, { class: "hi", x: this.width - RIGHT, y: floor + 33, "text-anchor": "end" }),
    );
  }

  #line(trial, shade) {
    const placed = trial.points.map(this.#at),
      points = placed.map(each => each.map(at => at.toFixed(1)).join(",")).join(" ");
    const state = this.word(trial.state[0].toUpperCase() + trial.state.slice(1));
    const [step, value] = trial.points.at(-1);
    const text = [trial.label, state, `${this.root.dataset.wordStep} ${step}`, `${this.chart.name} ${short(value)}`].join(" · ");
    const dashed = ["pruned", "failed"].includes(trial.state) ? " gap" : "";
    const children = [svg("polyline", { points, class: "hit" }), svg("polyline", { points })];
    // One point makes no line.
    if (placed.length === 1) children.push(svg("circle", { cx: placed[0][0], cy: placed[0][1], r: 3, class: "point" }));
    return this.mark({ id: trial.number, url: trial.url, text }, { class: `pl-line t${shade ?? 0}${dashed}`, "data-key": `row:${trial.number}` }, ...children);
  }

  #tell(mark) {
    this.marks.classList.toggle("dim", Boolean(mark));
    for (const each of this.marks.children) each.classList.toggle("on", each === mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : "";
  }
}
