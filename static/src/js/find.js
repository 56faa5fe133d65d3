// A search over what a page holds already: [data-find] names the box whose [data-find-text] parts it narrows. A part is
// found by its own words and those of the attribute; the groups that hold something found are unfolded meanwhile.
import { each, named } from "./dom.js";

/** Whether every word of the query is in the text, in any order. */
export function matches(text, query) {
  const within = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every(word => within.includes(word));
}

function narrow(box, query) {
  let found = 0;
  const parts = [...box.querySelectorAll("[data-find-text]")];
  for (const part of parts) {
    part.hidden = !matches(`${part.textContent} ${part.dataset.findText}`, query);
    found += !part.hidden;
  }
  for (const group of box.querySelectorAll("[data-find-group]")) {
    group.dataset.wasOpen ??= group.open;
    const holds = group.querySelector("[data-find-text]:not([hidden])") !== null;
    group.hidden = !holds;
    group.open = query ? holds : group.dataset.wasOpen === "true" || group.querySelector(":checked") !== null;
    if (!query) delete group.dataset.wasOpen;
  }
  box.querySelector("[data-find-none]").hidden = found > 0;
}

if (typeof document !== "undefined")
  each("[data-find]", input => {
    input.hidden = false;
    input.addEventListener("input", event => {
      event.stopPropagation(); // it is no field of the form: nothing is quoted or saved for it
      narrow(named(input.dataset.find), input.value.trim());
    });
    for (const type of ["change", "search"]) input.addEventListener(type, event => event.stopPropagation());
    input.addEventListener("keydown", event => event.key === "Enter" && event.preventDefault());
  });
