// Filters over the rows of a page: all that are pressed have to be met.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasAll } from "../../static/src/js/chips.js";

const row = ["fits", "isolated", "model:RTX_4090"];

test("every facet that is asked for has to be there", () => {
  assert.ok(hasAll(row, ["model:RTX_4090", "isolated"]));
  assert.ok(!hasAll(row, ["model:RTX_4090", "now"]));
});

test("a model is not found by the beginning of its name", () => {
  assert.ok(!hasAll(row, ["model:RTX"]));
});

test("all models, and no condition, find everything", () => {
  assert.ok(hasAll(row, [""]));
  assert.ok(hasAll(row, []));
});
