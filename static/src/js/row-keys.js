// Rows by keyboard, while the focus is inside a table: arrows or j and k go from row to row, Home and End to the
// first and last, x selects; Enter opens, since the focus is on the row's link. Only there, so that neither
// scrolling nor people who dictate are disturbed.
const STEPS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, Home: -Infinity, End: Infinity };
const TYPING = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], [role=menu]";

/** The place that a key leads to from `place` among `count` rows, or null where the key is none of these. */
export function target(key, place, count) {
  const step = STEPS[key];
  if (step === undefined || count === 0) return null;
  return Math.max(0, Math.min(count - 1, place + step));
}

const link = row => row.querySelector("a[href]:not([tabindex='-1'])") ?? row.querySelector("[data-pick]");

export function listen(root) {
  root.addEventListener("keydown", event => {
    const row = event.target.closest?.(".pl-table tbody tr");
    if (!row || event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPING)) return;
    if (event.key === "x") {
      row.querySelector("[data-pick]")?.click();
      return;
    }
    const rows = [...row.parentElement.children].filter(link);
    const place = target(event.key, rows.indexOf(row), rows.length);
    if (place === null) return;
    event.preventDefault();
    link(rows[place]).focus();
    rows[place].scrollIntoView({ block: "nearest" });
  });
}

if (typeof document !== "undefined") listen(document);
