// The shell: folded groups of the navigation, and the box that jumps to any page (Ctrl K).
import { each, on } from "./dom.js";

on("click", "[data-nav-group]", (event, button) => {
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", open);
  button.nextElementSibling.hidden = !open;
});

function entries() {
  return [...document.querySelectorAll(".pl-side a[href]")].map(link => ({
    href: link.href,
    label: link.dataset.label ?? link.textContent.trim(),
    icon: link.querySelector(".ti")?.className,
  }));
}

function option(entry, chosen) {
  const link = Object.assign(document.createElement("a"), { href: entry.href, className: "dropdown-item" });
  link.setAttribute("role", "option");
  link.setAttribute("aria-selected", chosen);
  if (entry.icon)
    link.append(Object.assign(document.createElement("i"), { className: entry.icon, ariaHidden: "true" }));
  link.append(entry.label);
  return link;
}

each("#pl-jump", dialog => {
  const input = dialog.querySelector("input"),
    list = dialog.querySelector("[role=listbox]"),
    none = dialog.querySelector("[data-none]");
  let chosen = 0;

  function draw() {
    const wanted = input.value.trim().toLowerCase();
    const found = entries().filter(entry => entry.label.toLowerCase().includes(wanted));
    chosen = Math.max(0, Math.min(chosen, found.length - 1));
    list.replaceChildren(...found.map((entry, k) => option(entry, k === chosen)));
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
    none.hidden = found.length > 0;
  }

  input.addEventListener("input", () => {
    chosen = 0;
    draw();
  });
  input.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      chosen += step;
      draw();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      list.children[chosen]?.click();
    }
  });
  const open = () => {
    input.value = "";
    chosen = 0;
    draw();
    dialog.showModal();
  };
  on("click", "[data-jump]", open);
  document.addEventListener("keydown", event => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k" && !dialog.open) {
      event.preventDefault();
      open();
    }
  });
});
