// Charts of many rows as inline SVG: [data-plot="parallel|scatter|slices|objective|intermediate|contour"] with a <script type="application/json">.
//
// parallel, scatter and slices read (apps.common.plots.Parallel.plain):
//   {axes: [{key, label, kind: "number|log|category", categories: [text], better: "low|high"|null, shown: bool}],
//    rows: [{id, label, url, values: [number|text|null, one for each axis]}],
//    colour: key, x: key, y: key}                    which axes they begin with; "" for none
// objective reads (apps.common.plots.Objective.plain):
//   {name, better: "low|high", goal: number|null,
//    trials: [{number, state: "complete|pruned|failed|running", value: number|null, label, url}]}
// intermediate reads (apps.automl.charts.Intermediate.plain):
//   {name, better: "low|high", lines: [{number, state: as above, label, url, points: [[step, number]]}]}
// contour reads (apps.automl.charts.Contour.plain):
//   {x: {label, texts: [text of each column]}, y: {label, texts: [of each row, from below]}, name, better: "low|high",
//    cells: [[number|null]], spots: [{number, across: 0…1, up: 0…1, value, url}]}
//
// A page includes components/parallel.html, scatter.html or objective.html with `id`, `title` and `chart`. Charts with the
// same data-plot-group follow each other: what is brushed in parallel coordinates steps back in scatter and in tables.
// What was chosen stands in the address of the page, under the chart's id, so a link and a saved view keep it.
import { Contour } from "./contour.js";
import { Intermediate } from "./intermediate.js";
import { Objective } from "./objective.js";
import { Parallel } from "./parallel.js";
import { Scatter } from "./scatter.js";
import { Slices } from "./slices.js";

const KINDS = { parallel: Parallel, scatter: Scatter, slices: Slices, objective: Objective, intermediate: Intermediate, contour: Contour };

export const mount = root => new KINDS[root.dataset.plot](root);
