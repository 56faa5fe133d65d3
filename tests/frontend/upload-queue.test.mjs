// The upload queue against a server that loses connections, parts and itself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PARALLEL, Pace, Queue, Refused, fingerprint } from "../../static/src/js/upload-queue.js";

const PART = 4;

/** A server that keeps what it was sent; `trouble(call)` may throw instead of an answer. */
function fake(trouble = () => {}) {
  const files = new Map();
  let calls = 0,
    open = 0;
  const told = { most: 0, largest: 0 };
  const answer = (id, file) => ({
    id,
    offset: file.data.length,
    part_bytes: PART,
    done: file.data.length === file.size,
    path: id,
  });
  const server = {
    files,
    told,
    async begin(job) {
      trouble("begin", ++calls);
      if (!files.has(job.path)) files.set(job.path, { data: "", size: job.file.size });
      return answer(job.path, files.get(job.path));
    },
    async append(id, offset, blob, progress, signal) {
      told.most = Math.max(told.most, ++open);
      told.largest = Math.max(told.largest, blob.size);
      try {
        await new Promise(done => setTimeout(done, 1));
        if (signal.aborted) throw new Error("connection");
        trouble("append", ++calls);
        const file = files.get(id);
        if (offset !== file.data.length) throw new Error("wrong offset");
        file.data += await blob.text();
        trouble("answer", ++calls);
        progress(blob.size);
        return answer(id, file);
      } finally {
        open--;
      }
    },
    cancel: async id => files.delete(id),
  };
  return server;
}

const file = text => Object.assign(new Blob([text]), { lastModified: 1 });
const entry = (path, text) => ({ path, file: file(text) });

function settled(queue) {
  return new Promise(done => {
    const look = () =>
      queue.jobs.every(job => ["done", "failed", "paused"].includes(job.state)) ? done() : setTimeout(look, 2);
    look();
  });
}

const queueOf = server => new Queue(server, () => {}, async () => {});

test("files arrive whole, a few at a time, a part at a time", async () => {
  const server = fake();
  const queue = queueOf(server);
  queue.add([..."abcdef"].map(name => entry(name, name.repeat(11))), "keep_both");
  await settled(queue);
  assert.deepEqual([...server.files.values()].map(each => each.data), [..."abcdef"].map(name => name.repeat(11)));
  assert.ok(server.told.most <= PARALLEL);
  assert.equal(server.told.largest, PART);
});

test("lost connections and lost answers repeat and miss nothing", async () => {
  const server = fake((call, number) => {
    if (number % 3 === 0) throw new Error("connection");
  });
  const queue = queueOf(server);
  queue.add([entry("a", "0123456789abcdefghij")], "keep_both");
  await settled(queue);
  assert.equal(server.files.get("a").data, "0123456789abcdefghij");
  assert.equal(queue.jobs[0].state, "done");
});

test("what the server refuses is not tried again and says why", async () => {
  let tries = 0;
  const queue = queueOf(
    fake(() => {
      tries++;
      throw new Refused("It is full.");
    }),
  );
  queue.add([entry("a", "1")], "keep_both");
  await settled(queue);
  assert.deepEqual([queue.jobs[0].state, queue.jobs[0].error, tries], ["failed", "It is full.", 1]);
});

test("a server that stays away is given up after a while, and can be asked again", async () => {
  let away = true;
  const server = fake(() => {
    if (away) throw new Error("connection");
  });
  const queue = queueOf(server);
  queue.add([entry("a", "12345")], "keep_both");
  await settled(queue);
  assert.equal(queue.jobs[0].state, "failed");
  away = false;
  queue.resume(queue.jobs[0]);
  await settled(queue);
  assert.equal(server.files.get("a").data, "12345");
});

test("paused and resumed at once, a file is still sent once", async () => {
  const server = fake();
  const queue = queueOf(server);
  const [job] = queue.add([entry("a", "0123456789abcdefghij")], "keep_both");
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(done => setTimeout(done, 2));
    queue.pause(job);
    queue.resume(job);
  }
  await settled(queue);
  assert.equal(server.files.get("a").data, "0123456789abcdefghij");
});

test("a paused file makes room for the next one", async () => {
  const server = fake();
  const queue = queueOf(server);
  const jobs = queue.add([..."abc"].map(name => entry(name, name.repeat(9))), "keep_both");
  queue.pause(jobs[0]);
  queue.pause(jobs[1]);
  await settled(queue);
  assert.deepEqual(jobs.map(job => job.state), ["paused", "paused", "done"]);
});

test("the same file has the same fingerprint, another one has not", () => {
  assert.equal(fingerprint("a", file("12")), fingerprint("a", file("12")));
  assert.notEqual(fingerprint("a", file("12")), fingerprint("a", file("123")));
});

test("speed and time left are those of the last seconds", () => {
  const pace = new Pace();
  pace.note(0, 0);
  pace.note(500, 900);
  assert.equal(pace.rate, 0); // too early to say
  assert.equal(pace.secondsFor(1000), null);
  pace.note(2000, 2000);
  assert.equal(pace.rate, 1000);
  assert.equal(pace.secondsFor(1500), 2);
  for (let s = 3; s <= 30; s++) pace.note(1000 * s, 2000 + 100 * (s - 2));
  assert.equal(pace.rate, 100); // the quick start is long ago
});

test("a file that is removed starts the watch anew, and a stalled upload ends never", () => {
  const pace = new Pace();
  pace.note(0, 0);
  pace.note(2000, 4000);
  pace.note(2100, 1000);
  assert.equal(pace.rate, 0);
  pace.note(5000, 1000);
  assert.equal(pace.secondsFor(10), null);
});
