// Charts of many rows as inline SVG: [data-plot="parallel|scatter|objective"] with a <script type="application/json">.
//
// parallel and scatter read (apps.common.plots.Parallel.plain):
//   {axes: [{key, label, kind: "number|log|category", categories: [text], better: "low|high"|null, shown: bool}],
//    rows: [{id, label, url, values: [number|text|null, one for each axis]}],
//    colour: key, x: key, y: key}                    which axes they begin with; "" for none
// objective reads (apps.common.plots.Objective.plain):
//   {name, better: "low|high", goal: number|null,
//    trials: [{number, state: "complete|pruned|failed|running", value: number|null, label, url}]}
//
// A page includes components/parallel.html, scatter.html or objective.html with `id`, `title` and `chart`. Charts with the
// same data-plot-group follow each other: what is brushed in parallel coordinates steps back in scatter and in tables.
// What was chosen stands in the address of the page, under the chart's id, so a link and a saved view keep it.
import { Objective } from "./objective.js";
import { Parallel } from "./parallel.js";
import { Scatter } from "./scatter.js";

const KINDS = { parallel: Parallel, scatter: Scatter, objective: Objective };

export const mount = root => new KINDS[root.dataset.plot](root);
