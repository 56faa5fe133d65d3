// What a key does in a table: the row that it leads to.
import assert from "node:assert/strict";
import { test } from "node:test";
import { target } from "../../static/src/js/row-keys.js";

test("arrows and letters go one row on and back", () => {
  assert.equal(target("ArrowDown", 0, 3), 1);
  assert.equal(target("j", 1, 3), 2);
  assert.equal(target("ArrowUp", 2, 3), 1);
  assert.equal(target("k", 1, 3), 0);
});

test("the ends hold", () => {
  assert.equal(target("j", 2, 3), 2);
  assert.equal(target("k", 0, 3), 0);
  assert.equal(target("End", 0, 3), 2);
  assert.equal(target("Home", 2, 3), 0);
});

test("other keys keep what they do", () => {
  assert.equal(target("Enter", 0, 3), null);
  assert.equal(target("a", 0, 3), null);
  assert.equal(target("j", -1, 0), null);
});
