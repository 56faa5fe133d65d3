// Tables: a click anywhere on a row with data-href opens it; check boxes open the bar of bulk actions.
import { fill, on } from "./dom.js";

const INTERACTIVE = "a, button, input, select, textarea, label, summary, [data-bs-toggle]";

on("click", "tr[data-href]", (event, row) => {
  if (event.target.closest(INTERACTIVE) || getSelection().toString()) return;
  if (event.metaKey || event.ctrlKey) window.open(row.dataset.href, "_blank", "noopener");
  else location.assign(row.dataset.href);
});

function refresh(list) {
  const boxes = [...list.querySelectorAll("[data-pick]")];
  const picked = boxes.filter(box => box.checked);
  boxes.forEach(box => box.closest("tr")?.setAttribute("aria-selected", box.checked));
  const all = list.querySelector("[data-pick-all]");
  if (all) {
    all.checked = boxes.length > 0 && picked.length === boxes.length;
    all.indeterminate = picked.length > 0 && picked.length < boxes.length;
  }
  const bulk = list.querySelector("[data-bulk]");
  if (!bulk) return;
  bulk.hidden = picked.length === 0;
  const count = bulk.querySelector("[data-count]");
  if (count) count.textContent = fill(count.dataset.count, { count: picked.length });
}

on("change", "[data-pick]", (event, box) => refresh(box.closest("[data-list]") ?? document));
on("change", "[data-pick-all]", (event, all) => {
  const list = all.closest("[data-list]") ?? document;
  list.querySelectorAll("[data-pick]").forEach(box => {
    box.checked = all.checked;
  });
  refresh(list);
});
on("click", "[data-pick-none]", (event, button) => {
  const list = button.closest("[data-list]") ?? document;
  list.querySelectorAll("[data-pick]").forEach(box => {
    box.checked = false;
  });
  refresh(list);
});

// Live lists are drawn again while somebody ticks rows: what was ticked stays ticked.
let kept = new Set();
document.addEventListener("htmx:beforeSwap", event => {
  const boxes = event.detail.target?.querySelectorAll?.("[data-pick]:checked") ?? [];
  kept = new Set([...boxes].map(box => box.value));
});
document.addEventListener("htmx:afterSettle", event => {
  if (!kept.size) return;
  const list = event.target.closest?.("[data-list]");
  if (!list) return;
  list.querySelectorAll("[data-pick]").forEach(box => {
    box.checked = kept.has(box.value);
  });
  kept = new Set();
  refresh(list);
});
