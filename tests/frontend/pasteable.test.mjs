import assert from "node:assert/strict";
import { test } from "node:test";
import { pasteable } from "../../static/src/js/pasteable.js";

test("a copied text cannot end the bracket that it is pasted in", () => {
  assert.equal(pasteable("ls\x1b[201~\nrm -rf ~\n"), "ls[201~\nrm -rf ~\n");
  assert.equal(pasteable("ls\x9b201~\nrm"), "ls201~\nrm");
});

test("nothing that is a key is typed by a paste", () => {
  assert.equal(pasteable("a\x00b\x03c\x04d\x08e\x7ff\x15g"), "abcdefg");
});

test("text of several lines and scripts stays as it is", () => {
  const text = "def f():\n\treturn '中文 é 😀'\r\n";
  assert.equal(pasteable(text), text);
});
