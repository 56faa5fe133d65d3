// Key–value rows (arguments, environment variables, secrets: the key may be a select): add, remove, and paste many lines at once.
import { each } from "./dom.js";

/** One pasted line as [key, value]: KEY=VALUE, "KEY: VALUE", --key value or --flag. */
function split(line) {
  const m = line.match(/^\s*(?:export\s+)?([^\s=:]+)(?:\s*=\s*|\s*:\s+|\s+|$)(.*)$/);
  return m && [m[1], m[2].trim().replace(/^(["'])(.*)\1$/, "$2")];
}

each("[data-rows]", root => {
  const list = root.querySelector("[data-rows-list]");
  const pattern = root.querySelector("template");
  const changed = () => root.dispatchEvent(new Event("change", { bubbles: true }));

  function add(key = "", value = "") {
    const row = pattern.content.firstElementChild.cloneNode(true);
    const [keyInput, valueInput] = row.querySelectorAll("input, select");
    keyInput.value = key;
    valueInput.value = value;
    list.append(row);
    return keyInput;
  }

  root.addEventListener("click", event => {
    if (event.target.closest("[data-rows-add]")) add().focus();
    const remove = event.target.closest("[data-rows-remove]");
    if (!remove) return;
    const row = remove.closest("[data-row]");
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    (next?.querySelector("input, select") ?? root.querySelector("[data-rows-add]")).focus();
    changed();
  });

  root.addEventListener("paste", event => {
    const lines = event.clipboardData
      .getData("text")
      .split(/\r?\n/)
      .filter(line => line.trim());
    if (lines.length < 2 || !event.target.matches("input")) return;
    event.preventDefault();
    const row = event.target.closest("[data-row]");
    lines
      .map(split)
      .filter(Boolean)
      .forEach(([key, value]) => add(key, value));
    if ([...row.querySelectorAll("input")].every(input => !input.value)) row.remove();
    changed();
  });
});
