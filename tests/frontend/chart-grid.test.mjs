import assert from "node:assert/strict";
import test from "node:test";
import { LineChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { gridOf } from "../../static/src/js/chart-grid.js";

echarts.use([LineChart, GridComponent, SVGRenderer]);

const FONT = 11,
  WIDE = 0.55; // a digit's share of its height

/** How far the time labels of a chart reach beyond its right edge, in pixels. */
function beyond(width, seconds) {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height: 120 });
  const from = Date.UTC(2026, 10, 23, 7, 25);
  chart.setOption({
    animation: false,
    useUTC: true,
    grid: gridOf(false),
    xAxis: { type: "time", splitLine: { show: false }, axisLabel: { fontSize: FONT, hideOverlap: true } },
    yAxis: { type: "value", min: 0, splitNumber: 2, axisLabel: { fontSize: FONT } },
    series: [{ type: "line", data: Array.from({ length: seconds / 5 + 1 }, (_, k) => [from + k * 5000, k % 7]) }],
  });
  const labels = [...chart.renderToSVGString().matchAll(/<text([^>]*)translate\(([\d.]+)[^>]*>(\d+:\d[^<]*)<\/text>/g)];
  chart.dispose();
  assert.ok(labels.length);
  return Math.max(...labels.map(([, , x, words]) => +x + (words.length * FONT * WIDE) / 2 - width));
}

test("no time label of a chart is cut at its right edge", () => {
  for (const width of [280, 420, 900])
    for (let seconds = 20; seconds <= 600; seconds += 40)
      assert.ok(beyond(width, seconds) <= 0, `${width} px wide, ${seconds} s: ${beyond(width, seconds)}`);
});
