// A press whose button is replaced before the mouse is up: the browser then clicks neither the old one nor the new one,
// and whoever pressed sees nothing happen. The new one is clicked if it stands there and would do the same.
const ACTING = "a[href], button";
const LOOK = /^(class|style|title|aria-.*)$/;
const TOKEN = "csrfmiddlewaretoken"; // drawn anew with every page, and means the same

const attributesOf = element =>
  [...element.attributes].filter(({ name }) => !LOOK.test(name)).map(({ name, value }) => `${name}=${value}`);

/** What a click on it would do, as text; nobody should delete row 3 who pressed on row 2. */
function deedOf(element) {
  const { form } = element;
  const fields = form ? [...new FormData(form)].filter(([name]) => name !== TOKEN).map(String) : [];
  return JSON.stringify([element.tagName, attributesOf(element), form ? attributesOf(form) : [], fields]);
}

let pressed = null,
  deed = "";

document.addEventListener(
  "mousedown",
  event => {
    pressed = event.button === 0 ? (event.target.closest?.(ACTING) ?? null) : null;
    deed = pressed ? deedOf(pressed) : "";
  },
  true,
);

document.addEventListener(
  "mouseup",
  event => {
    const replaced = pressed !== null && !pressed.isConnected;
    pressed = null;
    const now = replaced ? event.target.closest?.(ACTING) : null;
    if (now && deedOf(now) === deed) now.click();
  },
  true,
);
