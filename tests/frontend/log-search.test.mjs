// A search asks until the whole log is searched, goes on as it grows, and a new one ends the old one.
import assert from "node:assert/strict";
import test from "node:test";
import { LogSearch } from "../../static/src/js/log-search.js";

const hit = offset => ({ offset, end: offset + 3 });
const settle = () => new Promise(resolve => setTimeout(resolve, 5));

function searching(answers) {
  const asked = [];
  const search = new LogSearch(
    async parameters => {
      asked.push(parameters);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
    () => {},
  );
  return { search, asked };
}

test("answers are asked for one after another until the log is searched", async () => {
  const { search, asked } = searching([
    { hits: [hit(5), hit(90_000)], next_offset: 100_000, complete: false },
    { hits: [], next_offset: 300_000, complete: false },
    { hits: [hit(400_000)], next_offset: 500_000, complete: true },
  ]);
  search.start("abc", true);
  await settle();
  assert.deepEqual(asked.map(one => one.offset), [0, 100_000, 300_000]);
  assert.deepEqual(search.hits.map(one => one.offset), [5, 90_000, 400_000]);
  assert.equal(search.complete, true);
  assert.equal(search.step(1, 50_000).offset, 90_000);
  assert.equal(search.step(1, 0).offset, 400_000);
  assert.equal(search.step(1, 0).offset, 5);
  assert.equal(search.step(-1, 0).offset, 400_000);
});

test("at the end of a log that grows it waits, and goes on later", async () => {
  const { search, asked } = searching([
    { hits: [], next_offset: 100, complete: false },
    { hits: [hit(150)], next_offset: 200, complete: false },
    { hits: [], next_offset: 200, complete: false },
  ]);
  search.start("abc", false);
  await settle();
  assert.equal(search.isBusy, false);
  search.more();
  await settle();
  assert.deepEqual(asked.map(one => one.offset), [0, 100, 200]);
  assert.equal(search.hits.length, 1);
});

test("what the server says is wrong is kept for the reader, and a new search begins anew", async () => {
  const { search } = searching([new Error("no"), { hits: [hit(1)], next_offset: 9, complete: true }]);
  search.start("abc", false);
  await settle();
  assert.equal(search.failed, "no");
  search.start("abd", false);
  await settle();
  assert.deepEqual([search.failed, search.hits.length], ["", 1]);
  search.start("", false);
  assert.deepEqual([search.hits.length, search.step(1, 0)], [0, null]);
});
