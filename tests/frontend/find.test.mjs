// A search over what the page holds: every word, anywhere, whatever its case.
import assert from "node:assert/strict";
import { test } from "node:test";
import { matches } from "../../static/src/js/find.js";

const text = "PyTorch 2.14 torch==2.14.1 torchvision==0.29.2";

test("all words have to be there, in any order and case", () => {
  assert.ok(matches(text, "VISION pytorch"));
  assert.ok(!matches(text, "pytorch keras"));
});

test("an empty search finds everything", () => {
  assert.ok(matches(text, ""));
});

test("Chinese is found as it is written", () => {
  assert.ok(matches("强化学习，含 Gymnasium", "强化"));
});
