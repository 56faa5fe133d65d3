// The file manager: what is dropped or chosen goes up in parts; keys for what the mouse does.
import { spoken } from "./clock.js";
import { size } from "./dropzone.js";
import { each, fill, on } from "./dom.js";
import { toast } from "./toasts.js";
import { Pace, Queue, Refused, fingerprint } from "./upload-queue.js";

const SHOWN = 200;
const token = () => document.cookie.match(/(?:^|; )plstack_csrf=([^;]+)/)?.[1] ?? "";

/** One answer of the API. What cannot succeed is Refused, in the server's words; the rest may be tried again. */
async function settled(status, text, header) {
  const data = text ? JSON.parse(text) : {};
  if (status < 300) return data;
  if (status >= 500 || status === 429 || data.code === "wrong_offset" || status === 404) {
    throw Object.assign(new Error(data.detail), { after: 1000 * (header("Retry-After") ?? 0) });
  }
  throw new Refused([data.detail, data.hint].filter(Boolean).join(" "));
}

async function call(method, url, body) {
  const headers = { "X-CSRFToken": token(), Accept: "application/json", "Content-Type": "application/json" };
  const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
  return settled(answer.status, await answer.text(), name => answer.headers.get(name));
}

/** XMLHttpRequest, because only it tells how much of a part has gone. */
function send(url, offset, blob, progress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PATCH", url);
    request.setRequestHeader("X-CSRFToken", token());
    request.setRequestHeader("Content-Type", "application/offset+octet-stream");
    request.setRequestHeader("Upload-Offset", offset);
    request.upload.onprogress = event => progress(event.loaded);
    request.onerror = request.onabort = () => reject(new Error("connection"));
    request.onload = () => {
      settled(request.status, request.responseText, name => request.getResponseHeader(name)).then(resolve, reject);
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(blob);
  });
}

const serverAt = api => ({
  begin: job =>
    call("POST", `${api}uploads/`, {
      path: job.path,
      size: job.file.size,
      clash: job.clash,
      fingerprint: fingerprint(job.path, job.file),
    }),
  append: (id, offset, blob, progress, signal) => send(`/api/v1/uploads/${id}/`, offset, blob, progress, signal),
  cancel: id => call("DELETE", `/api/v1/uploads/${id}/`).catch(() => {}),
});

/** Files of dropped folders, with their paths; a folder answers a hundred entries at a time. */
async function entriesOf(entry, inside = "") {
  if (entry.isFile) {
    return [{ file: await new Promise((done, failed) => entry.file(done, failed)), path: inside + entry.name }];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return found;
    for (const child of some) found.push(...(await entriesOf(child, `${inside}${entry.name}/`)));
  }
}

async function dropped(transfer) {
  // Read before the first wait: afterwards the browser has emptied the list. Only folders need the slower way.
  const items = [...transfer.items].filter(item => item.kind === "file");
  const given = items.map(item => ({ entry: item.webkitGetAsEntry?.(), file: item.getAsFile() }));
  const found = [];
  for (const { entry, file } of given) {
    if (entry?.isDirectory) found.push(...(await entriesOf(entry)));
    else if (file) found.push({ file, path: file.name });
  }
  return found;
}

each("[data-fm]", manager => {
  const api = manager.dataset.fmApi;
  const panel = manager.querySelector("[data-fm-uploads]");
  const list = panel.querySelector("[data-queue]");
  const pattern = panel.querySelector("[data-line]");
  const dialog = manager.querySelector("[data-fm-clash]");
  const chooser = { files: manager.querySelector("[data-fm-files]"), folder: manager.querySelector("[data-fm-folder]") };
  const lines = new Map();
  const queue = new Queue(serverAt(api), changed);
  const pace = new Pace();
  const path = () => manager.querySelector("#fm-list").dataset.fmPath;
  let told = 0;

  async function taken(names) {
    const query = new URLSearchParams({ path: path(), page_size: 1000 });
    const there = new Set((await call("GET", `${api}?${query}`)).entries.map(entry => entry.name));
    return names.filter(name => there.has(name));
  }

  function ask(names) {
    dialog.querySelector("[data-names]").textContent = names.slice(0, 8).join(", ") + (names.length > 8 ? " …" : "");
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise(done => dialog.addEventListener("close", () => done(dialog.returnValue), { once: true }));
  }

  async function take(files) {
    if (!files.length) return;
    const folder = path();
    const unfinished = new Set(queue.jobs.filter(job => job.state !== "done").map(job => job.path));
    let clash = "keep_both";
    try {
      const clashing = await taken([...new Set(files.map(each => each.path.split("/")[0]))]);
      if (clashing.length) clash = await ask(clashing);
    } catch (error) {
      toast({ text: error.message, tone: "fail" });
      return;
    }
    if (!clash) return;
    const placed = files.map(each => ({ file: each.file, path: folder ? `${folder}/${each.path}` : each.path }));
    queue.add(placed.filter(each => !unfinished.has(each.path)), clash);
  }

  function changed(job) {
    panel.hidden = false;
    line(job);
    total();
    if (job.state !== "done" && job.state !== "failed") return;
    if (queue.active === 0 || Date.now() - told > 2000) {
      told = Date.now();
      document.body.dispatchEvent(new Event("pl:files"));
    }
  }

  function line(job) {
    let row = lines.get(job);
    if (!row) {
      if (lines.size >= SHOWN && job.state === "waiting") return;
      row = pattern.content.firstElementChild.cloneNode(true);
      row.querySelector("[data-name]").textContent = job.path;
      row.querySelector("[data-size]").textContent = size(job.file.size);
      row.querySelector("[data-toggle]").addEventListener("click", () =>
        job.state === "paused" || job.state === "failed" ? queue.resume(job) : queue.pause(job),
      );
      row.querySelector("[data-cancel]").addEventListener("click", () => {
        queue.remove(job);
        row.remove();
        lines.delete(job);
        total();
        document.body.dispatchEvent(new Event("pl:files"));
      });
      lines.set(job, row);
      list.append(row);
    }
    const percent = job.file.size ? Math.floor((100 * job.sent) / job.file.size) : 100;
    row.querySelector("i").style.width = `${job.state === "done" ? 100 : percent}%`;
    row.dataset.state = job.state;
    row.querySelector("[data-state]").textContent = word(job, percent);
    const ended = job.state === "done";
    row.querySelector("[data-toggle]").hidden = ended;
    row.querySelector("[data-toggle] i").className =
      job.state === "paused" || job.state === "failed" ? "ti ti-player-play" : "ti ti-player-pause";
  }

  function word(job, percent) {
    const words = panel.dataset;
    if (job.state === "sending") return `${percent}%`;
    if (job.state === "failed") return job.error;
    if (job.state === "done") return job.skipped ? words.skipped : words.done;
    return { waiting: words.waiting, paused: `${words.paused} · ${percent}%`, retrying: words.retrying }[job.state] ?? "";
  }

  function total() {
    const { jobs } = queue;
    const all = jobs.length;
    panel.hidden = all === 0;
    const done = jobs.filter(job => job.state === "done").length;
    const failed = jobs.filter(job => job.state === "failed").length;
    const sent = jobs.reduce((sum, job) => sum + job.sent, 0);
    const bytes = jobs.reduce((sum, job) => sum + job.file.size, 0);
    const words = panel.dataset;
    const text = done + failed < all ? words.left : failed ? words.failed : words.finished;
    const shown = { done, all, sent: size(sent), failed, total: size(bytes) };
    panel.querySelector("[data-total]").textContent = fill(text, shown);
    panel.querySelector("[data-pace]").textContent = queue.active ? speed(sent, bytes) : "";
    panel.querySelector("[data-fm-pause]").hidden = done + failed === all;
  }

  /** "12.3 MB/s · 2 min left"; nothing in the first second. */
  function speed(sent, bytes) {
    pace.note(performance.now(), sent);
    const left = pace.secondsFor(bytes - sent);
    if (left === null) return "";
    const words = panel.dataset;
    return `${fill(words.speed, { speed: size(pace.rate) })} · ${fill(words.rest, { time: spoken(left) })}`;
  }

  panel.querySelector("[data-fm-pause]").addEventListener("click", event => {
    const button = event.currentTarget;
    if (queue.paused) queue.resumeAll();
    else queue.pauseAll();
    [button.textContent, button.dataset.other] = [button.dataset.other, button.textContent];
  });
  panel.querySelector("[data-fm-clear]").addEventListener("click", () => {
    for (const job of queue.jobs.filter(one => one.state === "done")) {
      lines.get(job)?.remove();
      lines.delete(job);
    }
    queue.jobs = queue.jobs.filter(job => job.state !== "done");
    total();
  });

  for (const input of Object.values(chooser)) {
    input.addEventListener("change", () => {
      take([...input.files].map(file => ({ file, path: file.webkitRelativePath || file.name })));
      input.value = "";
    });
  }
  manager.addEventListener("click", event => {
    const button = event.target.closest("[data-fm-choose]");
    if (button) chooser[button.dataset.fmChoose].click();
  });

  let depth = 0;
  const carries = event => [...(event.dataTransfer?.types ?? [])].includes("Files");
  manager.addEventListener("dragenter", event => {
    if (carries(event)) manager.classList.toggle("over", ++depth > 0);
  });
  manager.addEventListener("dragleave", event => {
    if (carries(event)) manager.classList.toggle("over", --depth > 0);
  });
  manager.addEventListener("dragover", event => carries(event) && event.preventDefault());
  manager.addEventListener("drop", async event => {
    if (!carries(event)) return;
    event.preventDefault();
    depth = 0;
    manager.classList.remove("over");
    take(await dropped(event.dataTransfer));
  });

  addEventListener("beforeunload", event => {
    if (queue.active) event.preventDefault();
  });
});

// F2 renames and Delete deletes the row that has the keyboard.
on("keydown", ".pl-fm tbody tr", (event, row) => {
  const act = { F2: "[data-fm-rename]", Delete: "[data-fm-delete]" }[event.key];
  if (act && !event.target.matches("input:not([type=checkbox])")) row.querySelector(act)?.click();
});

// A new name most often keeps its ending.
each("[data-fm-stem]", input => {
  const end = input.value.lastIndexOf(".");
  requestAnimationFrame(() => input.setSelectionRange(0, end > 0 ? end : input.value.length));
});
