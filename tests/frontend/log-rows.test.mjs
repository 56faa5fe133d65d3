// However the bytes of a log are cut, the rows are the same, and each stands for its own bytes.
import assert from "node:assert/strict";
import test from "node:test";
import { folds, lastAtOrBefore, RowReader, rowsOf, unrolled } from "../../static/src/js/log-rows.js";

const encoder = new TextEncoder();
const bytesOf = (...parts) => {
  const all = parts.flatMap(part => [...(typeof part === "string" ? encoder.encode(part) : part)]);
  return new Uint8Array(all);
};
const LOG = bytesOf(
  "plain\n",
  "\x1b[31mred 训练 \u{1f469}\u200d\u{1f680}\x1b[0m done\n",
  " 10%\r 50%\r100%\n",
  [0xff, 0xfe, 0x00, 0x41, 0x0a],
  "\n",
  "\x1b]0;title\x07after\n",
  [0xe4, 0xb8, 0x0a],
  "the end has no feed",
);

function read(bytes, cuts) {
  const reader = new RowReader(1000);
  const rows = [];
  let open = null,
    at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = cuts[turn % cuts.length];
    const fed = reader.push(bytes.subarray(at, at + size));
    rows.push(...fed.rows);
    open = fed.open;
    at += size;
  }
  return open ? [...rows, open] : rows;
}

// A small generator with a seed, so that a failure can be repeated.
function random(seed) {
  return () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
}

test("any cutting of the bytes gives the same rows", () => {
  const whole = read(LOG, [LOG.length]);
  assert.deepEqual(
    whole.map(row => row.text),
    ["plain", "red 训练 \u{1f469}\u200d\u{1f680} done", "100%", "\ufffd\ufffdA", "", "after", "\ufffd", "the end has no feed"],
  );
  assert.deepEqual(whole.map(row => row.overwritten), [false, false, true, false, false, false, false, false]);
  assert.equal(whole.at(-1).open, true);
  const next = random(7);
  for (let turn = 0; turn < 300; turn++) {
    const cuts = Array.from({ length: 5 }, () => 1 + Math.floor(next() * 20));
    const text = rows => rows.map(row => ({ ...row, spans: [] }));
    const styled = rows => rows.map(row => row.spans.map(([from, to, style]) => `${row.text.slice(from, to)}${style.fg}`).join(""));
    assert.deepEqual(text(read(LOG, cuts)), text(whole), `cuts ${cuts}`);
    const strip = list => list.map(one => one.replaceAll("1", ""));
    assert.deepEqual(strip(styled(read(LOG, cuts))), strip(styled(whole)), `cuts ${cuts}`);
  }
});

test("rows lie side by side and stand for the bytes of their lines", () => {
  let at = 1000;
  for (const row of read(LOG, [3])) {
    assert.equal(row.offset, at);
    at = row.end;
  }
  assert.equal(at, 1000 + LOG.length);
});

test("a row has the time at which its first byte was stored", () => {
  const reader = new RowReader(0);
  reader.times([
    [0, 10],
    [6, 20],
  ]);
  const { rows } = reader.push(bytesOf("one\ntwo\nsix\n"));
  assert.deepEqual(rows.map(row => row.at), [10, 10, 20]);
  assert.equal(new RowReader(0).push(bytesOf("old\n")).rows[0].at, null);
});

test("a line without an end is cut before it grows for ever", () => {
  const reader = new RowReader(0);
  let rows = [];
  for (let turn = 0; turn < 100; turn++) rows.push(...reader.push(bytesOf("x".repeat(10_000))).rows);
  assert.ok(rows.length > 5);
  assert.ok(rows.every(row => row.text.length < 80_000));
  rows = [];
  const bar = new RowReader(0);
  for (let turn = 0; turn < 10_000; turn++) rows.push(...bar.push(bytesOf(`\r ${turn} of many`)).rows);
  assert.deepEqual(rows, []);
  assert.equal(bar.push(bytesOf("\n")).rows[0].text, " 9999 of many");
});

test("lines that are alike but for their numbers are folded, and the last ones stay", () => {
  const rows = rowsOf(
    Array.from({ length: 100 }, (_, k) => ({ offset: k, end: k + 1, at: null, text: `step ${k} loss ${k / 7} 0x${k.toString(16)}f` })),
  );
  const [[first, last]] = folds(rows);
  assert.equal(first, 2);
  assert.equal(100 - 1 - last, 24);
  rows.push(...rowsOf([{ offset: 100, end: 101, at: null, text: "Traceback" }]));
  assert.deepEqual(folds(rows), [[2, 98]]);
  rows[50].unfolded = true;
  assert.deepEqual(folds(rows), [
    [2, 49],
    [51, 98],
  ]);
  assert.deepEqual(folds(rows.slice(0, 26)), []);
});

test("what a bar wrote over can be seen", () => {
  const shown = unrolled({ offset: 0, end: 9, at: null, text: " 10%\r 50%\r\x1b[32m100%\r" });
  assert.equal(shown.text, " 10% ␍  50% ␍ 100%");
  assert.equal(shown.spans.length, 1);
});

test("a place in a sorted list", () => {
  const list = [2, 4, 4, 9];
  assert.deepEqual([0, 2, 3, 4, 8, 9, 99].map(wanted => lastAtOrBefore(list, wanted, one => one)), [-1, 0, 0, 2, 2, 3, 3]);
});
