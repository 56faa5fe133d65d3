import assert from "node:assert/strict";
import test from "node:test";
import { bestSoFar, isWithin, logTicks, mayBeLog, paretoFront, roundTicks, scaleOf, shadeOf } from "../../static/src/js/plot-scale.js";

const NUMBER = { kind: "number", categories: [] },
  LOG = { kind: "log", categories: [] };

test("numbers lie between the ends of their axis, and what is no number has no place", () => {
  const scale = scaleOf(NUMBER, [2, null, 4, 6]);
  assert.deepEqual([2, 4, 6, null, Number.NaN, "4"].map(scale.at), [0, 0.5, 1, null, null, null]);
});

test("a logarithmic axis has no place for zero and below", () => {
  const scale = scaleOf(LOG, [0.001, 0.1, 0, -3]);
  assert.ok(Math.abs(scale.at(0.01) - 0.5) < 1e-9);
  assert.equal(scale.at(0), null);
  assert.ok(mayBeLog(LOG, [0.1, null]));
  assert.ok(!mayBeLog(LOG, [0.1, 0]));
  assert.ok(!mayBeLog(LOG, [null]));
});

test("an axis on which all rows are alike has them in its middle", () => {
  for (const axis of [NUMBER, LOG]) {
    const scale = scaleOf(axis, [3, 3]);
    assert.ok(Math.abs(scale.at(3) - 0.5) < 1e-9);
    assert.deepEqual(scale.ticks.map(tick => tick.text), ["3"]);
  }
  assert.equal(scaleOf({ kind: "category", categories: ["a"] }, ["a"]).at("a"), 0.5);
});

test("categories are as far apart as each other, and a place leads back to one", () => {
  const scale = scaleOf({ kind: "category", categories: ["adam", "lion", "sgd"] }, []);
  assert.deepEqual(["adam", "lion", "sgd", "rmsprop", null].map(scale.at), [0, 0.5, 1, null, null]);
  assert.equal(scale.back(0.6), "lion");
});

test("a place leads back to its value", () => {
  for (const axis of [NUMBER, LOG])
    for (const place of [0, 0.25, 0.5, 0.9, 1]) {
      const scale = scaleOf(axis, [1e-5, 0.3]);
      assert.ok(Math.abs(scale.at(scale.back(place)) - place) < 1e-3, `${axis.kind} ${place}`);
    }
});

test("ticks are round, within the axis, and few", () => {
  assert.deepEqual(roundTicks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(logTicks(1e-5, 1e-1), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]);
  for (let k = 0; k < 200; k++) {
    const low = Math.sin(k) * 10 ** ((k % 9) - 4),
      high = low + 10 ** ((k % 7) - 3);
    const ticks = roundTicks(low, high);
    assert.ok(ticks.length >= 2 && ticks.length <= 11, `${low} ${high}: ${ticks}`);
    assert.ok(ticks.every(tick => tick >= low - (high - low) * 1e-6 && tick <= high + (high - low) * 1e-6));
  }
});

test("the strongest shade is the best end of an axis", () => {
  assert.equal(shadeOf({ better: "low" }, 0), 4);
  assert.equal(shadeOf({ better: "low" }, 1), 0);
  assert.equal(shadeOf({ better: null }, 1), 4);
  assert.equal(shadeOf({ better: "high" }, null), null);
});

test("a row passes the brushes that it lies within, and none where it has no value", () => {
  assert.ok(isWithin([0.2, null], new Map()));
  assert.ok(isWithin([0.2, 1], new Map([[0, [0.1, 0.3]]])));
  assert.ok(!isWithin([0.4, 1], new Map([[0, [0.1, 0.3]]])));
  assert.ok(!isWithin([null, 1], new Map([[0, [0, 1]]])));
});

test("the best so far counts complete trials alone, in the order of their numbers", () => {
  const trials = [
    { number: 4, state: "complete", value: 2 },
    { number: 1, state: "complete", value: 5 },
    { number: 2, state: "pruned", value: 0 },
    { number: 3, state: "complete", value: null },
    { number: 5, state: "complete", value: 3 },
  ];
  assert.deepEqual(bestSoFar(trials, "low"), [{ number: 1, value: 5 }, { number: 4, value: 2 }]);
  assert.deepEqual(bestSoFar(trials, "high"), [{ number: 1, value: 5 }]);
  assert.deepEqual(bestSoFar([], "low"), []);
});

test("the Pareto front is what nothing beats by both measures", () => {
  const draw = seed => () => (seed = (seed * 16807) % 2147483647) % 8;
  for (let round = 1; round <= 200; round++) {
    const next = draw(round),
      points = Array.from({ length: 12 }, () => [next(), next()]);
    for (const [bx, by] of [["low", "low"], ["low", "high"], ["high", "low"], ["high", "high"]]) {
      const sign = better => (better === "low" ? 1 : -1);
      const loss = ([x, y]) => [sign(bx) * x, sign(by) * y];
      const beats = (a, b) => a[0] <= b[0] && a[1] <= b[1] && (a[0] < b[0] || a[1] < b[1]);
      const wanted = points.filter(p => !points.some(other => beats(loss(other), loss(p))));
      const found = paretoFront(points, bx, by);
      assert.deepEqual([...found].sort(), [...wanted].sort());
      assert.deepEqual(found.map(p => p[0]), found.map(p => p[0]).sort((a, b) => a - b));
    }
  }
  assert.deepEqual(paretoFront([[null, 1], [NaN, 2]], "low", "low"), []);
});
