// Toasts: Django's messages on arrival, htmx's HX-Trigger {"pl:toast": {...}}, and toast() from other modules.
import { each } from "./dom.js";

const STAY_MS = 6000;

/** Shows a sentence, with a link if `url` and `action` say so. tone: run wait warn fail stop; a failure stays. */
export function toast({ text, tone = "stop", url, action }) {
  const pattern = document.getElementById("pl-toast");
  const region = document.getElementById("pl-toasts");
  if (!pattern || !region || !text) return;
  const element = pattern.content.firstElementChild.cloneNode(true);
  element.classList.add(`is-${tone}`);
  element.querySelectorAll("[data-tone]").forEach(icon => {
    icon.hidden = icon.dataset.tone !== tone;
  });
  element.querySelector("[data-text]").textContent = text;
  const link = element.querySelector("[data-action]");
  if (url && action) Object.assign(link, { href: url, textContent: action, hidden: false });
  region.append(element);
  arm(element);
}

function arm(element) {
  element.querySelector("[data-close]")?.addEventListener("click", () => element.remove());
  if (element.classList.contains("is-fail") || element.hasAttribute("data-stay")) return;
  let timer = setTimeout(() => element.remove(), STAY_MS);
  element.addEventListener("pointerenter", () => clearTimeout(timer));
  element.addEventListener("pointerleave", () => {
    timer = setTimeout(() => element.remove(), STAY_MS / 2);
  });
}

each("#pl-toasts > .pl-toast", arm);
document.addEventListener("pl:toast", event => toast(event.detail));
