// Metrics of one run or several: [data-curves="url"] with data-query (run=…&run=…), data-word-*.
// Asked without names the address says which metrics there are, with names it gives their curves: see `metric_pages`.
// A chart asks once it comes into sight, and again when an event of its run says that there is more.
// How it is shown (axis, smoothing, log) stands in the address of the page, so a link keeps it.
import * as echarts from "echarts/core";
import { gridOf } from "./chart-grid.js";
import { fill, words } from "./dom.js";
import { smoothed } from "./smoothing.js";

const AGAIN_MS = 3000;
const BATCH = 8;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const RAMP = ["--pl-ink", "--pl-d3", "--pl-d2", "--pl-d4"];
const DASHES = ["solid", [6, 3], [2, 3], [8, 3, 2, 3]];
const short = v => (v == null || !Number.isFinite(v) ? "—" : `${+(+v).toPrecision(5)}`);

export class Curves {
  constructor(root) {
    this.root = root;
    this.charts = new Map(); // name → {box, chart, curves, seen}
    this.runs = [];
    const asked = new URLSearchParams(location.search);
    this.axis = asked.get("axis") === "time" ? "time" : "step";
    this.smooth = Math.min(0.99, Math.max(0, +(asked.get("smooth") ?? 0) || 0));
    this.log = asked.get("log") === "1";
    this.filter = asked.get("metric") ?? "";
    this.list = root.querySelector("[data-curve-list]");
    this.#controls();
    this.observer = new IntersectionObserver(entries => this.#sighted(entries), { rootMargin: "200px" });
    this.sizes = new ResizeObserver(() => this.charts.forEach(each => each.chart?.resize()));
    this.sizes.observe(root);
    root.addEventListener("pl:event", () => this.#soon());
    new MutationObserver(() => this.#drawAll()).observe(document.documentElement, { attributeFilter: ["data-bs-theme"] });
    this.#index();
  }

  #url(params) {
    const url = new URL(this.root.dataset.curves, location.href);
    for (const [key, value] of new URLSearchParams(this.root.dataset.query)) url.searchParams.append(key, value);
    for (const [key, value] of params) url.searchParams.append(key, value);
    return url;
  }

  async #ask(params) {
    const answer = await fetch(this.#url(params), { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  }

  /** Many events cost one question. */
  #soon() {
    if (this.timer || !this.root.isConnected) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (!document.hidden) this.#index(true);
    }, AGAIN_MS);
  }

  async #index(again = false) {
    try {
      const { runs, names } = await this.#ask([]);
      this.runs = runs;
      names.filter(name => !this.charts.has(name)).forEach(name => this.#add(name));
      this.root.toggleAttribute("data-empty", !this.charts.size);
      if (again) this.#load([...this.charts.keys()].filter(name => this.charts.get(name).visible));
    } catch {
      this.list.dataset.note = this.root.dataset.wordFailed;
    }
  }

  #add(name) {
    const card = document.createElement("section"),
      title = document.createElement("h3"),
      last = document.createElement("span"),
      box = document.createElement("div");
    card.className = "card pl-curve";
    title.className = "card-title pl-cut";
    title.textContent = title.title = name;
    last.className = "pl-strong pl-nowrap pl-end";
    box.className = "pl-chart tall";
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", name);
    const row = document.createElement("div"),
      body = document.createElement("div");
    row.className = "pl-row";
    row.append(title, last);
    body.className = "card-body pl-chart-card";
    body.append(row, box);
    card.append(body);
    card.dataset.name = name;
    card.hidden = !this.#matches(name);
    this.#groupOf(name).append(card);
    this.charts.set(name, { card, box, last, chart: null, curves: [], visible: false });
    this.observer.observe(card);
  }

  /** Names with the same prefix stand together. */
  #groupOf(name) {
    const prefix = name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "";
    let group = [...this.list.children].find(each => each.dataset.group === prefix);
    if (group) return group.lastElementChild;
    group = document.createElement("div");
    group.dataset.group = prefix;
    if (prefix) {
      const title = document.createElement("h2");
      title.className = "card-title mb-2";
      title.textContent = prefix;
      group.append(title);
    }
    const pair = document.createElement("div");
    pair.className = "pl-pair tight";
    group.append(pair);
    this.list.append(group);
    return pair;
  }

  #matches(name) {
    return name.toLowerCase().includes(this.filter.toLowerCase());
  }

  #sighted(entries) {
    const fresh = [];
    for (const { target, isIntersecting } of entries) {
      const known = this.charts.get(target.dataset.name);
      known.visible = isIntersecting;
      if (isIntersecting && !known.chart) fresh.push(target.dataset.name);
    }
    this.#load(fresh);
  }

  async #load(names) {
    for (let at = 0; at < names.length; at += BATCH) {
      const some = names.slice(at, at + BATCH);
      try {
        const { curves } = await this.#ask([...some.map(name => ["name", name]), ["axis", this.axis]]);
        for (const name of some) {
          this.charts.get(name).curves = curves.filter(curve => curve.name === name);
          this.#draw(name);
        }
      } catch {
        for (const name of some) this.charts.get(name).box.dataset.note = this.root.dataset.wordFailed;
      }
    }
  }

  #drawAll() {
    for (const [name, { chart }] of this.charts) if (chart) this.#draw(name);
  }

  #draw(name) {
    const known = this.charts.get(name);
    if (!known.chart) {
      known.chart = echarts.init(known.box, null, { renderer: "canvas" });
      known.chart.group = "pl-curves";
      echarts.connect("pl-curves");
    }
    const text = { color: css("--pl-ink-3"), fontFamily: css("--pl-font"), fontSize: 11 },
      many = this.runs.length > 1;
    known.box.dataset.note = known.curves.some(curve => curve.points.length) ? "" : this.root.dataset.wordEmpty;
    known.last.textContent = many ? "" : short(known.curves[0]?.points.at(-1)?.[3]);
    known.chart.setOption(
      {
        animation: false,
        useUTC: true,
        textStyle: text,
        legend: { show: many, type: "scroll", top: 0, left: 0, right: 6, itemWidth: 22, itemHeight: 8, textStyle: text, pageTextStyle: text, pageIconColor: css("--pl-ink-2"), data: this.runs.map(run => this.#called(run)) },
        grid: gridOf(many),
        tooltip: {
          trigger: "axis",
          confine: true,
          backgroundColor: css("--pl-surface"),
          borderColor: css("--pl-line-2"),
          padding: [6, 10],
          textStyle: { color: css("--pl-ink"), fontSize: 12 },
          axisPointer: { type: "line", lineStyle: { color: css("--pl-ink-3") } },
          valueFormatter: short,
          order: "valueAsc",
        },
        xAxis: this.#xAxis(text, many),
        yAxis: {
          type: this.log ? "log" : "value",
          scale: true,
          splitNumber: 4,
          axisLine: { lineStyle: { color: css("--pl-line-2") } },
          splitLine: { lineStyle: { color: css("--pl-line") } },
          axisLabel: { ...text, formatter: short },
        },
        series: known.curves.flatMap(curve => this.#series(curve, many)),
      },
      { notMerge: true },
    );
  }

  #xAxis(text, many) {
    const time = this.axis === "time" && !many;
    return {
      type: time ? "time" : "value",
      min: "dataMin",
      max: "dataMax",
      axisLine: { lineStyle: { color: css("--pl-line-2") } },
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { ...text, hideOverlap: true, ...(this.axis === "time" && many ? { formatter: s => fill(this.root.dataset.wordMinutes, { count: short(s / 60) }) } : {}) },
    };
  }

  #called = run => `${run.name} v${run.version}`;

  #series(curve, many) {
    const place = Math.max(0, this.runs.findIndex(run => run.id === curve.run)),
      colour = css(RAMP[place % RAMP.length]),
      type = DASHES[Math.floor(place / RAMP.length) % DASHES.length];
    const points = curve.points.map(([x, ...values]) => [this.#x(x, curve, many), ...values]);
    const name = many ? this.#called(this.runs[place]) : curve.name,
      line = { type: "line", showSymbol: points.length < 2, symbolSize: 5, itemStyle: { color: colour } };
    const drawn = points.map(([x, , , last]) => [x, last]);
    const spikes = points.flatMap(([x, low, high, last]) => (low === high ? [[x, last]] : [[x, low], [x, high], [x, last]]));
    const style = { width: many ? 1.25 : 1.5, color: colour, type };
    const marks = this.#marks(curve, many);
    if (!this.smooth) return [{ ...line, name, data: this.#positive(spikes), lineStyle: style, markLine: marks }];
    return [
      { ...line, name, data: this.#positive(smoothed(drawn, this.smooth)), lineStyle: style, markLine: marks },
      { ...line, name: `${name} `, silent: true, tooltip: { show: false }, data: this.#positive(spikes), lineStyle: { ...style, width: 1, opacity: 0.25 } },
    ];
  }

  /** What has no place on the axis is a gap. */
  #positive = points => (this.log ? points.map(([x, y]) => [x, y > 0 ? y : null]) : points);

  /** Times of one run are those of the clock; of several, since the first value of each. */
  #x(x, curve, many) {
    if (this.axis !== "time") return x;
    return many ? x - (curve.points[0]?.[0] ?? x) : (x + +(words().zone ?? 0)) * 1000;
  }

  /** Where a value was none. */
  #marks(curve, many) {
    if (!curve.marks.length) return undefined;
    const colour = css("--pl-fail-fill");
    return {
      symbol: "none",
      silent: true,
      lineStyle: { color: colour, type: "dotted", width: 1 },
      label: { color: colour, fontSize: 10, formatter: ({ data }) => data.name },
      data: curve.marks.slice(0, 5).map(([x, name]) => ({ xAxis: this.#x(x, curve, many), name })),
    };
  }

  #controls() {
    const find = name => this.root.querySelector(`[data-curve-${name}]`);
    for (const button of this.root.querySelectorAll("[data-curve-axis]"))
      button.addEventListener("click", () => {
        this.axis = button.dataset.curveAxis;
        this.#keep();
        this.#load([...this.charts].filter(([, each]) => each.chart).map(([name]) => name));
      });
    const smooth = find("smooth"),
      log = find("log"),
      filter = find("filter");
    smooth.value = this.smooth;
    log.checked = this.log;
    filter.value = this.filter;
    smooth.addEventListener("input", () => {
      this.smooth = +smooth.value;
      this.#keep();
      this.#drawAll();
    });
    log.addEventListener("change", () => {
      this.log = log.checked;
      this.#keep();
      this.#drawAll();
    });
    filter.addEventListener("input", () => {
      this.filter = filter.value;
      this.#keep();
      for (const [name, { card }] of this.charts) card.hidden = !this.#matches(name);
    });
    this.#keep();
  }

  /** The address of the page says how it is shown. */
  #keep() {
    const url = new URL(location.href);
    const put = (key, value, plain) => (value === plain ? url.searchParams.delete(key) : url.searchParams.set(key, value));
    put("axis", this.axis, "step");
    put("smooth", `${this.smooth}`, "0");
    put("log", this.log ? "1" : "0", "0");
    put("metric", this.filter, "");
    history.replaceState(history.state, "", url);
    for (const button of this.root.querySelectorAll("[data-curve-axis]"))
      button.setAttribute("aria-pressed", `${button.dataset.curveAxis === this.axis}`);
  }
}
