import assert from "node:assert/strict";
import test from "node:test";
import { smoothed } from "../../static/src/js/smoothing.js";

test("the mean begins at the first value, not at zero", () => {
  assert.deepEqual(smoothed([[0, 4], [1, 4]], 0.9).map(([, y]) => Math.round(y * 1e9) / 1e9), [4, 4]);
});

test("without weight the values stay as they are", () => {
  assert.deepEqual(smoothed([[0, 1], [1, 3]], 0), [[0, 1], [1, 3]]);
});

test("what is no number is a gap, and the mean goes on behind it", () => {
  const found = smoothed([[0, 1], [1, NaN], [2, 1]], 0.5);
  assert.equal(found[1][1], null);
  assert.equal(found[2][1], 1);
});
