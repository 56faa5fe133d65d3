// The shell: folded groups of the navigation, filters that are folded on narrow screens, and tabs wider than the screen.
import { each, on } from "./dom.js";

// Set at once and by hand: scrollIntoView would move the page too.
each(".nav-tabs:has(.active)", tabs => {
  const [row, tab] = [tabs, tabs.querySelector(".active")].map(part => part.getBoundingClientRect());
  tabs.scrollLeft += tab.left + tab.width / 2 - (row.left + row.width / 2);
});

on("click", "[data-nav-group]", (event, button) => {
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", open);
  button.nextElementSibling.hidden = !open;
});

on("click", "[data-unfold]", (event, button) => {
  const open = button.closest("form").classList.toggle("is-open");
  button.setAttribute("aria-expanded", open);
});
