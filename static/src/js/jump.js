// Ctrl K: finds pages, things and numbers. Pages stand there at once; what was typed is asked of the server.
import { each, fill, on } from "./dom.js";

const WAIT_MS = 120;

function pages(wanted) {
  return [...document.querySelectorAll(".pl-side a[href]")]
    .map(link => ({
      href: link.href,
      label: link.dataset.label ?? link.textContent.trim(),
      icon: link.querySelector(".ti")?.className,
    }))
    .filter(page => page.label.toLowerCase().includes(wanted));
}

function option(page) {
  const link = Object.assign(document.createElement("a"), { href: page.href, className: "dropdown-item", tabIndex: -1 });
  link.setAttribute("role", "option");
  if (page.icon) link.append(Object.assign(document.createElement("i"), { className: page.icon, ariaHidden: "true" }));
  link.append(page.label);
  return link;
}

each("#pl-jump", dialog => {
  const input = dialog.querySelector("input"),
    list = dialog.querySelector("[role=listbox]"),
    none = dialog.querySelector("[data-none]"),
    away = dialog.querySelector("[data-away]"),
    count = dialog.querySelector("[data-count]");
  let chosen = 0,
    timer = 0,
    asked = null,
    enter = null; // Enter that was pressed before the answer to what is typed: it opens the first when it comes

  const options = () => [...list.querySelectorAll("[role=option]")];

  function mark() {
    const all = options();
    chosen = Math.max(0, Math.min(chosen, all.length - 1));
    all.forEach((link, k) => {
      link.id = `pl-jump-${k}`;
      link.setAttribute("aria-selected", k === chosen);
    });
    if (all.length) input.setAttribute("aria-activedescendant", all[chosen].id);
    else input.removeAttribute("aria-activedescendant");
    // The first one's heading is worth seeing too.
    (chosen === 0 ? list.firstElementChild : all[chosen])?.scrollIntoView({ block: "nearest" });
  }

  function show(nodes, { failed = false } = {}) {
    list.replaceChildren(...nodes);
    chosen = 0;
    mark();
    const found = options().length;
    none.hidden = found > 0 || failed;
    away.hidden = !failed;
    count.textContent = input.value.trim() ? fill(count.dataset.count, { count: found }) : "";
  }

  function go(link, apart) {
    if (!link) return;
    if (apart) window.open(link.href, "_blank", "noopener");
    else {
      dialog.close();
      location.assign(link.href);
    }
  }

  async function ask(text) {
    asked?.abort();
    const mine = (asked = new AbortController());
    let failed = false,
      nodes = [];
    try {
      const url = `${dialog.dataset.search}?q=${encodeURIComponent(text)}`;
      const answer = await fetch(url, { signal: mine.signal, headers: { "HX-Request": "true" } });
      if (!answer.ok || answer.redirected || answer.status === 204) throw new Error(String(answer.status));
      nodes = [...new DOMParser().parseFromString(await answer.text(), "text/html").body.children];
    } catch {
      if (mine.signal.aborted) return;
      failed = true;
      nodes = pages(text.toLowerCase()).map(option);
    }
    if (mine !== asked || mine.signal.aborted) return;
    asked = null;
    list.removeAttribute("aria-busy");
    show(nodes, { failed });
    if (enter) go(options()[0], enter.apart);
    enter = null;
  }

  function typed() {
    clearTimeout(timer);
    asked?.abort();
    asked = enter = timer = null;
    const text = input.value.trim();
    if (!text) {
      list.removeAttribute("aria-busy");
      show(pages("").map(option));
      return;
    }
    list.setAttribute("aria-busy", "true");
    timer = setTimeout(() => {
      timer = null;
      ask(text);
    }, WAIT_MS);
  }

  input.addEventListener("input", event => {
    if (!event.isComposing) typed(); // letters of an input method are no words yet
  });
  input.addEventListener("compositionend", typed);
  input.addEventListener("keydown", event => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
    if (step) {
      event.preventDefault();
      chosen += step;
      mark();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      const apart = event.ctrlKey || event.metaKey;
      if (timer || asked) enter = { apart };
      else go(options()[chosen], apart);
    }
  });
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asked?.abort();
    asked = enter = timer = null;
  });

  const open = () => {
    input.value = "";
    typed();
    dialog.showModal();
    input.focus();
  };
  on("click", "[data-jump]", open);
  document.addEventListener("keydown", event => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !dialog.open) {
      event.preventDefault();
      open();
    }
  });
});
