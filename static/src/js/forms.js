// Small comforts of forms.
import { on } from "./dom.js";

// Show or hide a password.
on("click", "[data-reveal]", (event, button) => {
  const input = button.parentElement.querySelector("input");
  const shown = input.type === "text";
  input.type = shown ? "password" : "text";
  button.setAttribute("aria-pressed", !shown);
  button.querySelector(".ti").className = shown ? "ti ti-eye" : "ti ti-eye-off";
});

// A choice that applies at once (language, rows per page).
on("change", "[data-submit-on-change]", (event, field) => field.form.requestSubmit());

// A button that fills another field with a better value: "change to v4".
on("click", "[data-fill]", (event, button) => {
  const field = document.getElementById(button.dataset.fill);
  if (field.matches("[type=radio], [type=checkbox]")) field.checked = true;
  else field.value = button.dataset.value;
  const fold = field.closest("details");
  if (fold) fold.open = true;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
});

// A button that adds a word to a line of words, unless it is among them.
on("click", "[data-add-word]", (event, button) => {
  const field = document.getElementById(button.dataset.addWord);
  const words = field.value.split(/[\s,;，；、]+/).filter(Boolean);
  const word = button.dataset.value;
  if (!words.some(each => each.toLowerCase() === word.toLowerCase())) words.push(word);
  field.value = words.join(" ");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
  field.focus();
});

// One press, one submission: the second click of a double click finds the button waiting. It wakes up again by itself,
// for a form whose answer is a file, and when the browser brings the page back from its cache.
const WAIT_MS = 10_000;
const wake = button => {
  button.disabled = false;
  button.removeAttribute("data-sent");
};
on("submit", "form", (event, form) => {
  const button = event.submitter;
  if (event.defaultPrevented || !button || form.hasAttribute("hx-post") || form.method === "get") return;
  // Not at once: a disabled button's own name and value would not be sent.
  setTimeout(() => {
    button.disabled = true;
    button.setAttribute("data-sent", "");
  });
  setTimeout(() => button.hasAttribute("data-sent") && wake(button), WAIT_MS);
});
addEventListener("pageshow", event => {
  if (event.persisted) document.querySelectorAll("[data-sent]").forEach(wake);
});

// Sections that belong to one value of a radio or select: data-when="field=value other".
function show(form) {
  for (const part of form.querySelectorAll("[data-when]")) {
    const [name, values] = part.dataset.when.split("=");
    const wanted = values.split(" ").includes(new FormData(form).get(name) ?? "");
    part.hidden = !wanted;
    part.toggleAttribute("inert", !wanted);
  }
}
on("change", "form", (event, form) => show(form));
document.addEventListener("htmx:load", () => document.querySelectorAll("form:has([data-when])").forEach(show));
document.querySelectorAll("form:has([data-when])").forEach(show);

on("click", "[data-back]", () => (history.length > 1 ? history.back() : location.assign("/")));
on("click", "[data-reload]", () => location.reload());
