// The objective of trials over their number, with a step line of the best so far. What is pruned, failed or running
// stands in a lane of its own below, with a shape for each; see plots.js for the description.
import { Plot, svg } from "./plot.js";
import { bestSoFar, roundTicks, scaleOf, short } from "./plot-scale.js";

const TOP = 14,
  HEIGHT = 170,
  LANE = 22,
  LEFT = 62,
  RIGHT = 18;
const LANES = ["pruned", "failed", "running"];

export class Objective extends Plot {
  constructor(root) {
    super(root);
    this.start();
  }

  draw() {
    const { trials, goal, better } = this.chart,
      done = trials.filter(each => each.state === "complete" && each.value != null);
    const values = [...done.map(each => each.value), ...(goal == null ? [] : [goal])];
    this.scale = scaleOf({ kind: "number" }, values, { pad: 0.06 });
    this.lanes = LANES.filter(state => trials.some(each => each.state === state));
    const last = Math.max(1, ...trials.map(each => each.number));
    this.x = number => LEFT + ((number - 1) / Math.max(1, last - 1)) * (this.width - LEFT - RIGHT);
    this.y = value => TOP + (1 - this.scale.at(value)) * HEIGHT;
    this.floor = TOP + HEIGHT + this.lanes.length * LANE;
    const drawing = svg("svg", { width: this.width, height: this.floor + 28, role: "group", "aria-label": this.root.dataset.label });
    const best = bestSoFar(trials, better);
    const placed = trials.filter(each => LANES.includes(each.state) || each.value != null).sort((a, b) => a.number - b.number);
    this.marks = svg("g", {}, ...placed.map(each => this.#mark(each)));
    drawing.append(this.#frame(last), this.#goal(), this.#best(best, last), this.marks);
    this.show(drawing);
    this.walk([...this.marks.children], mark => this.#tell(mark));
    this.summary = best.length ? this.word("Best", { value: short(best.at(-1).value), number: best.at(-1).number }) : this.word("Nobest");
    this.said.textContent = this.summary;
  }

  #frame(last) {
    const numbers = roundTicks(1, last, Math.max(2, Math.floor(this.width / 110))).filter(each => Number.isInteger(each) && each >= 1);
    return svg(
      "g",
      {},
      ...this.scale.ticks.flatMap(tick => {
        const y = TOP + (1 - tick.at) * HEIGHT;
        return [svg("line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }), svg("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, tick.text)];
      }),
      ...this.lanes.map((state, k) => svg("text", { x: LEFT - 8, y: this.#lane(k) + 4, "text-anchor": "end" }, this.word(state[0].toUpperCase() + state.slice(1)))),
      svg("line", { class: "base", x1: LEFT, x2: this.width - RIGHT, y1: this.floor + 6, y2: this.floor + 6 }),
      ...(numbers.length ? numbers : [1]).map(number => svg("text", { x: this.x(number), y: this.floor + 21, "text-anchor": "middle" }, `${number}`)),
    );
  }

  #lane = k => TOP + HEIGHT + LANE * (k + 0.5) + 4;

  #goal() {
    const { goal } = this.chart;
    if (goal == null) return svg("g");
    const y = this.y(goal);
    return svg("g", {}, svg("line", { class: "goal", x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }), svg("text", { class: "hi halo", x: this.width - RIGHT, y: y - 4, "text-anchor": "end" }, this.word("Goal", { value: short(goal) })));
  }

  #best(best, last) {
    if (!best.length) return svg("g");
    const steps = best.map(({ number, value }, k) => (k ? `H${this.x(number)}V${this.y(value)}` : `M${this.x(number)} ${this.y(value)}`));
    return svg("path", { class: "best", d: `${steps.join("")}H${this.x(last)}` });
  }

  #mark(trial) {
    const { state, number, value } = trial,
      x = this.x(number),
      lane = this.lanes.indexOf(state),
      y = lane < 0 ? this.y(value) : this.#lane(lane);
    const shape = {
      complete: () => svg("circle", { cx: x, cy: y, r: 4 }),
      pruned: () => svg("circle", { cx: x, cy: y, r: 4, class: "open" }),
      failed: () => svg("path", { d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`, class: "cross is-fail" }),
      running: () => svg("path", { d: `M${x - 4} ${y - 5}l9 5l-9 5z`, class: "is-run" }),
    }[state]();
    const said = [trial.label, this.word(state[0].toUpperCase() + state.slice(1)), value == null ? "" : `${this.chart.name} ${short(value)}`];
    return this.mark({ ...trial, id: number, text: said.filter(Boolean).join(" · ") }, { class: "pl-dot t3", "data-key": `row:${number}` }, svg("circle", { cx: x, cy: y, r: 10, class: "hit" }), shape);
  }

  #tell(mark) {
    for (const each of this.marks.children) each.classList.toggle("on", each === mark);
    this.said.textContent = mark ? mark.getAttribute("aria-label") : this.summary;
  }
}
