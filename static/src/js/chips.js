// Filters over rows that a page holds already: [data-chips] names the box whose [data-facets] rows its buttons narrow.
// Of the buttons with data-one exactly one is pressed; the others add up. What is chosen in a row stays in sight: nobody
// should start what he does not see.
import { each, named } from "./dom.js";

/** Whether a row with these facets has all that are asked for; an empty one asks for nothing. */
export const hasAll = (facets, asked) => asked.every(facet => !facet || facets.includes(facet));

const isPressed = chip => chip.ariaPressed === "true";

function press(chip, chips) {
  if (!("one" in chip.dataset)) {
    chip.ariaPressed = String(!isPressed(chip));
    return;
  }
  for (const other of chips) if ("one" in other.dataset) other.ariaPressed = String(other === chip);
}

function narrow(box, chips) {
  const asked = chips.filter(isPressed).map(chip => chip.dataset.facet);
  let found = 0;
  for (const row of box.querySelectorAll("[data-facets]")) {
    const fits = hasAll(row.dataset.facets.split(" "), asked);
    row.hidden = !fits && row.querySelector(":checked") === null;
    found += fits;
  }
  box.querySelector("[data-chips-none]").hidden = found > 0;
}

if (typeof document !== "undefined")
  each("[data-chips]", bar => {
    const box = named(bar.dataset.chips);
    const chips = [...bar.querySelectorAll("[data-facet]")];
    bar.hidden = false;
    bar.addEventListener("click", event => {
      const chip = event.target.closest("[data-facet]");
      if (!chip) return;
      press(chip, chips);
      narrow(box, chips);
    });
    box.addEventListener("change", () => narrow(box, chips));
  });
