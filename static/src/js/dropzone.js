// A drop zone around <input type=file>: drop, list with sizes, remove one, refuse too large with a word.
import { each, fill } from "./dom.js";

export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let k = 0;
  for (; bytes >= 1000 && k < units.length - 1; k++) bytes /= 1000;
  return `${k && bytes < 100 ? bytes.toFixed(1) : Math.round(bytes)} ${units[k]}`;
}

each("[data-dropzone]", zone => {
  const input = zone.querySelector("input[type=file]"),
    list = zone.querySelector("[data-files]");
  const pattern = zone.querySelector("template"),
    error = zone.querySelector("[data-error]");
  const limit = +zone.dataset.maxBytes || Infinity;
  let files = [],
    told = false;

  function keep(next) {
    const all = new Map((input.multiple ? files : []).map(file => [file.name, file]));
    const large = next.filter(file => file.size > limit);
    next.filter(file => file.size <= limit).forEach(file => all.set(file.name, file));
    error.hidden = large.length === 0;
    error.textContent = large.length ? fill(error.dataset.tooLarge, { name: large[0].name, limit: size(limit) }) : "";
    put([...all.values()].slice(0, input.multiple ? undefined : 1));
  }

  function put(next) {
    files = next;
    const carrier = new DataTransfer();
    files.forEach(file => carrier.items.add(file));
    input.files = carrier.files;
    list.replaceChildren(...files.map(line));
    list.hidden = files.length === 0;
  }

  function line(file) {
    const row = pattern.content.firstElementChild.cloneNode(true);
    row.querySelector("[data-name]").textContent = file.name;
    row.querySelector("[data-size]").textContent = size(file.size);
    const remove = row.querySelector("button");
    remove.setAttribute("aria-label", fill(remove.dataset.label, { name: file.name }));
    remove.addEventListener("click", () => {
      put(files.filter(other => other !== file));
      tell();
      input.focus();
    });
    return row;
  }

  /** A change of ours, for whoever listens further up; not one to be collected again. */
  function tell() {
    told = true;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    told = false;
  }

  // The chooser replaces the list by its own; here its files join the earlier ones before anybody else looks.
  input.addEventListener("change", () => {
    if (!told) keep([...input.files]);
  });
  for (const type of ["dragenter", "dragover"])
    zone.addEventListener(type, event => {
      event.preventDefault();
      zone.classList.add("over");
    });
  for (const type of ["dragleave", "drop"]) zone.addEventListener(type, () => zone.classList.remove("over"));
  zone.addEventListener("drop", event => {
    event.preventDefault();
    keep([...event.dataTransfer.files]);
    tell();
  });
});
