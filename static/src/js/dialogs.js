// <dialog>: opened by data-dialog="id", or by htmx swapping content into it; closed by data-close or a click outside.
import { each, named, on } from "./dom.js";

on("click", "[data-dialog]", (event, button) => {
  const dialog = named(button.dataset.dialog);
  if (!dialog) return;
  event.preventDefault();
  dialog.showModal();
});

on("click", "dialog [data-close]", (event, button) => button.closest("dialog").close());

// A click on the backdrop arrives at the dialog itself; inside it, a child is the target.
on("click", "dialog", (event, dialog) => {
  if (event.target === dialog && !dialog.hasAttribute("data-firm")) dialog.close();
});

document.addEventListener("htmx:afterSwap", event => {
  const dialog = event.target.closest?.("dialog");
  if (dialog && !dialog.open && dialog.hasChildNodes()) dialog.showModal();
});

// A server that has carried the action out says HX-Trigger: pl:close.
document.addEventListener("pl:close", () =>
  document.querySelectorAll("dialog[open]").forEach(dialog => dialog.close()),
);

// "Type the name to confirm": the button inside stays disabled until the words agree.
each("input[data-must-equal]", input => {
  const button = input.closest("form")?.querySelector("button[type=submit]");
  const check = () => {
    if (button) button.disabled = input.value.trim() !== input.dataset.mustEqual;
  };
  input.addEventListener("input", check);
  check();
});
