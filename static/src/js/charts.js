// Charts from JSON: [data-chart="url"] data-kind="line|area|bar|step" data-unit data-limit data-every (s)
// data-window (s). The answer is [{name, unit, limit, points: [[t, v], …]}]: t in Unix seconds or ISO 8601, v a number
// or null (unknown).
// Later questions carry ?since=<newest t>, and their points are appended. Charts with data-every are pushed their new
// points (live.js); only while they are not, they ask, and no more often than every SLOW_MS.
import { BarChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { gridOf } from "./chart-grid.js";
import { Curves } from "./curves.js";
import { stepOf } from "./chart-times.js";
import { fill, named, words } from "./dom.js";

echarts.use([LineChart, BarChart, GridComponent, LegendComponent, TooltipComponent, MarkLineComponent, CanvasRenderer]);

const RAMP = ["--pl-ink", "--pl-d3", "--pl-d2", "--pl-d4", "--pl-d1"];
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const millis = t => (typeof t === "number" ? t * 1000 : Date.parse(t));
const number = v =>
  v == null ? "—" : (+v).toLocaleString("en-US", { maximumFractionDigits: Math.abs(v) < 10 ? 2 : 1 });
const charts = new Set();
const SLOW_MS = 15_000;

// The page's other times are in the platform's zone, so the charts' are too, whatever zone the browser is in.
const shown = ([t, v]) => [t + +(words().zone ?? 0) * 1000, v];

function axisOf(text) {
  return {
    axisLine: { lineStyle: { color: css("--pl-line-2") } },
    axisTick: { show: false },
    axisLabel: text,
    splitLine: { lineStyle: { color: css("--pl-line") } },
  };
}

class Chart {
  constructor(root) {
    this.root = root;
    this.series = [];
    this.chart = echarts.init(root, null, { renderer: "canvas" });
    this.observer = new ResizeObserver(() => this.chart.resize());
    this.observer.observe(root);
    charts.add(this);
    root.addEventListener("pl:points", ({ detail }) => this.#take(detail));
    this.#load();
  }

  async #load() {
    if (!this.root.isConnected) return this.#end();
    const every = +(this.root.dataset.every || 0) * 1000;
    if (!this.series.length || !(document.hidden || "pushed" in this.root.dataset)) await this.#fetch();
    if (!every || this.done) return;
    this.root.dispatchEvent(new CustomEvent("pl:chart", { bubbles: true }));
    setTimeout(() => this.#load(), Math.max(every, SLOW_MS) * (0.85 + Math.random() * 0.3));
  }

  #take(series) {
    this.#merge(series);
    this.#note(this.series.some(s => s.points.length) ? null : this.root.dataset.wordEmpty);
    this.draw();
  }

  async #fetch() {
    const url = new URL(this.root.dataset.chart, location.href);
    const newest = this.#newest();
    if (Number.isFinite(newest)) url.searchParams.set("since", newest / 1000);
    try {
      const answer = await fetch(url, { headers: { Accept: "application/json" } });
      if (answer.status === 404 || answer.status === 403) this.done = true;
      if (!answer.ok) throw new Error(String(answer.status));
      this.#merge(await answer.json());
      this.#note(this.series.some(s => s.points.length) ? null : this.root.dataset.wordEmpty);
    } catch {
      this.#note(this.series.length ? null : this.root.dataset.wordFailed);
    }
    this.draw();
  }

  #newest() {
    return Math.max(...this.series.flatMap(s => (s.points.length ? [s.points.at(-1)[0]] : [])), -Infinity);
  }

  #merge(answer) {
    this.#mergeSeries(answer);
    const newest = this.#newest();
    if (Number.isFinite(newest)) this.root.dataset.newest = newest / 1000;
  }

  #mergeSeries(answer) {
    for (const fresh of answer) {
      const points = fresh.points.map(([t, v]) => [millis(t), v]);
      const known = this.series.find(s => s.name === fresh.name);
      if (!known) {
        this.series.push({ ...fresh, points });
        continue;
      }
      const newest = known.points.at(-1)?.[0] ?? -Infinity;
      known.limit = fresh.limit ?? known.limit;
      known.points.push(...points.filter(([t]) => t > newest));
    }
    const span = +(this.root.dataset.window || 0) * 1000;
    if (!span) return;
    const end = Math.max(...this.series.flatMap(s => s.points.slice(-1).map(p => p[0])));
    this.series.forEach(s => {
      s.points = s.points.filter(([t]) => t >= end - span);
    });
  }

  #note(text) {
    this.root.dataset.note = text ?? "";
    const latest = named(this.root.dataset.latest);
    if (!latest || !this.series.length) return;
    latest.textContent = this.series.map(s => number(s.points.at(-1)?.[1])).join(" / ");
  }

  draw() {
    const data = this.root.dataset,
      text = { color: css("--pl-ink-3"), fontFamily: css("--pl-font"), fontSize: 11 };
    const limit = data.limit ? +data.limit : Math.max(...this.series.map(s => s.limit ?? -Infinity));
    const unit = data.unit ?? this.series[0]?.unit ?? "";
    const axis = axisOf(text),
      bars = data.kind === "bar",
      // Bars of one colour each say nothing until somebody points at them; lines tell themselves apart by their dashes.
      legend = bars && this.series.length > 1;
    this.chart.setOption(
      {
        animation: false,
        useUTC: true,
        textStyle: text,
        legend: { show: legend, top: 0, right: 6, icon: "rect", itemWidth: 10, itemHeight: 10, textStyle: text },
        grid: gridOf(legend),
        tooltip: {
          trigger: "axis",
          backgroundColor: css("--pl-surface"),
          borderColor: css("--pl-line-2"),
          padding: [6, 10],
          confine: true,
          textStyle: { color: css("--pl-ink"), fontSize: 12 },
          valueFormatter: v => `${number(v)} ${unit}`.trim(),
        },
        xAxis: {
          type: "time",
          ...axis,
          splitLine: { show: false },
          axisLabel: { ...text, hideOverlap: true },
          ...(bars ? this.#steps() : {}),
        },
        yAxis: {
          type: "value",
          min: 0,
          max: Number.isFinite(limit) && this.#highest() <= limit ? limit : undefined,
          splitNumber: 2,
          ...axis,
          axisLabel: { ...text, formatter: v => number(v) + (unit === "%" ? "%" : "") },
        },
        series: this.series.flatMap((s, k) => this.#lines(s, k, limit)),
      },
      { notMerge: true },
    );
  }

  #steps() {
    const { apart, name } = stepOf(this.series.flatMap(s => s.points.map(point => shown(point)[0])));
    return { minInterval: apart, axisPointer: { label: { formatter: ({ value }) => name(value) } } };
  }

  #highest() {
    return Math.max(0, ...this.series.flatMap(s => s.points.map(p => p[1] ?? 0)));
  }

  #lines(s, k, limit) {
    const kind = this.root.dataset.kind ?? "area",
      colour = css(RAMP[k % RAMP.length]);
    const base = { name: s.name, data: s.points.map(shown), itemStyle: { color: colour } };
    const stack = "stacked" in this.root.dataset ? "all" : undefined;
    if (kind === "bar") return [{ ...base, type: "bar", barMaxWidth: 18, stack }];
    const line = {
      ...base,
      type: "line",
      showSymbol: s.points.length === 1,
      symbolSize: 5,
      connectNulls: false,
      step: kind === "step" ? "end" : false,
      lineStyle: { width: 1.5, color: colour, type: k ? [4, 3] : "solid" },
      areaStyle: k === 0 && kind !== "line" ? { color: colour, opacity: 0.05 } : undefined,
    };
    if (k === 0 && Number.isFinite(limit)) line.markLine = this.#limitLine(limit);
    return Number.isFinite(limit) ? [line, this.#over(s, limit)] : [line];
  }

  #limitLine(limit) {
    const label = {
      position: "insideStartBottom",
      color: css("--pl-ink-3"),
      fontSize: 11,
      formatter: fill(this.root.dataset.wordLimit, { limit: number(limit) }),
    };
    return {
      symbol: "none",
      silent: true,
      label,
      lineStyle: { color: css("--pl-ink-3"), type: "solid", width: 1 },
      data: [{ yAxis: limit }],
    };
  }

  // Colour is state: a series stays ink and turns red only where it passes its limit.
  #over(s, limit) {
    const points = s.points.map(shown).map(([t, v]) => [t, v > limit ? v : null]);
    const colour = css("--pl-fail-fill");
    return {
      name: s.name,
      type: "line",
      data: points,
      showSymbol: false,
      silent: true,
      tooltip: { show: false },
      lineStyle: { width: 2, color: colour },
      itemStyle: { color: colour },
    };
  }

  #end() {
    this.observer.disconnect();
    this.chart.dispose();
    charts.delete(this);
  }
}

new MutationObserver(() => charts.forEach(chart => chart.draw())).observe(document.documentElement, {
  attributeFilter: ["data-bs-theme"],
});

export const mount = root => ("curves" in root.dataset ? new Curves(root) : new Chart(root));
