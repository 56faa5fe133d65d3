// form[data-guard]: leaving with unsaved changes asks first.
import { each } from "./dom.js";

const state = form =>
  JSON.stringify([...new FormData(form)].map(([k, v]) => [k, v instanceof File ? v.name + v.size : v]));

each("form[data-guard]", form => {
  const before = state(form);
  let sent = false;
  form.addEventListener("submit", () => {
    sent = true;
  });
  form.addEventListener("htmx:afterRequest", event => {
    if (event.detail.elt === form && !event.detail.successful) sent = false;
  });
  addEventListener("beforeunload", event => {
    if (!sent && form.isConnected && state(form) !== before) event.preventDefault();
  });
});
