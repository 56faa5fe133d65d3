// Sends files in parts and never holds more of a file than one part. No page in here: tests drive it with a fake server.

export const PARALLEL = 2;
const MAX_TRIES = 12;

/** What the server says is wrong for good: asking again would not help. */
export class Refused extends Error {}

/** The same file chosen again has the same fingerprint, so the server can tell how much of it has come. */
export const fingerprint = (path, file) => `${path}:${file.size}:${file.lastModified}`.slice(-200);

/** How fast bytes go, over the last seconds. Told of all that was sent so far; what is removed counts as nothing sent. */
export class Pace {
  constructor(span_ms = 8000) {
    this.span_ms = span_ms;
    this.points = [];
  }

  note(now_ms, sent) {
    const last = this.points.at(-1);
    if (last && sent < last.sent) this.points = [];
    this.points.push({ now_ms, sent });
    while (this.points.length > 2 && now_ms - this.points[1].now_ms >= this.span_ms) this.points.shift();
  }

  /** Bytes a second; 0 until a second has been watched. */
  get rate() {
    const first = this.points[0];
    const last = this.points.at(-1);
    const ms = last ? last.now_ms - first.now_ms : 0;
    return ms < 1000 ? 0 : (1000 * (last.sent - first.sent)) / ms;
  }

  /** Seconds until so many more bytes are sent; null while nobody knows. */
  secondsFor(bytes) {
    return this.rate > 0 ? Math.ceil(bytes / this.rate) : null;
  }
}

/**
 * `server`: begin(job) → {id, offset, part_bytes, done, path}, append(id, offset, blob, progress, signal) → the same,
 * offsetOf(id) → number. All reject with Refused for good, with anything else for now.
 * `changed(job)` is called whenever a job looks different.
 */
export class Queue {
  constructor(server, changed, wait = ms => new Promise(done => setTimeout(done, ms))) {
    Object.assign(this, { server, changed, wait });
    this.jobs = [];
    this.paused = false;
  }

  add(files, clash) {
    const jobs = files.map(({ file, path }) => ({ file, path, clash, sent: 0, state: "waiting", tries: 0 }));
    this.jobs.push(...jobs);
    jobs.forEach(this.changed);
    this.next();
    return jobs;
  }

  next() {
    while (!this.paused && this.active < PARALLEL) {
      const job = this.jobs.find(each => each.state === "waiting");
      if (!job) return;
      this.run(job);
    }
  }

  get active() {
    return this.jobs.filter(job => job.state === "sending" || job.state === "retrying").length;
  }

  pause(job) {
    if (job.state === "done" || job.state === "failed") return;
    job.state = "paused";
    job.abort?.abort();
    this.changed(job);
    this.next();
  }

  resume(job) {
    if (job.state !== "paused" && job.state !== "failed") return;
    job.state = "waiting";
    job.error = "";
    job.tries = 0;
    this.changed(job);
    this.next();
  }

  pauseAll() {
    this.paused = true;
    this.jobs.filter(job => job.state !== "done" && job.state !== "failed").forEach(job => this.pause(job));
  }

  resumeAll() {
    this.paused = false;
    this.jobs.filter(job => job.state === "paused").forEach(job => this.resume(job));
  }

  remove(job) {
    job.state = "removed";
    job.abort?.abort();
    this.jobs = this.jobs.filter(each => each !== job);
    if (job.id) this.server.cancel(job.id);
    this.next();
  }

  async run(job) {
    // A file that was paused and resumed at once has two runs for a moment; only the newest one speaks.
    const turn = {};
    Object.assign(job, { state: "sending", turn });
    this.changed(job);
    try {
      await this.send(job, turn);
    } catch (error) {
      await this.failed(job, error, turn);
    }
    if (job.turn !== turn) return;
    this.changed(job);
    this.next();
  }

  async send(job, turn) {
    job.abort = new AbortController();
    let answer = await this.server.begin(job);
    while (!answer.done && job.state === "sending" && job.turn === turn) {
      job.id = answer.id;
      this.tell(job, answer.offset);
      const part = job.file.slice(answer.offset, answer.offset + answer.part_bytes);
      const from = answer.offset;
      answer = await this.server.append(answer.id, from, part, got => this.tell(job, from + got), job.abort.signal);
      job.tries = 0;
    }
    if (!answer.done || job.turn !== turn) return;
    Object.assign(job, { state: "done", id: null, skipped: answer.path === null });
    this.tell(job, job.file.size);
  }

  tell(job, sent) {
    job.sent = sent;
    this.changed(job);
  }

  /** Lost connections are tried again, longer and longer apart; `begin` then says where to go on. */
  async failed(job, error, turn) {
    if (job.state !== "sending" || job.turn !== turn) return; // paused or removed meanwhile
    if (error instanceof Refused || job.tries >= MAX_TRIES) {
      Object.assign(job, { state: "failed", error: error.message });
      return;
    }
    job.state = "retrying";
    this.changed(job);
    await this.wait(Math.max(error.after ?? 0, Math.min(30_000, 500 * 2 ** job.tries++)));
    if (job.state === "retrying") job.state = "waiting";
  }
}
