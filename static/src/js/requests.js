// What happens around htmx requests: failures in words, sign-in pages never swapped into a part, upload progress.
import { fill, words } from "./dom.js";
import { toast } from "./toasts.js";

document.addEventListener("htmx:beforeSwap", event => {
  const login = words().login;
  const { xhr } = event.detail;
  if (!login || !xhr.responseURL || new URL(xhr.responseURL).pathname !== login) return;
  event.detail.shouldSwap = false;
  location.assign(`${login}?next=${encodeURIComponent(location.pathname + location.search)}`);
});

// A page that loads itself anew, since what it shows has become another, does not take back a link that was followed
// just before. A download leaves the page where it is, so later answers count again.
const LEAVING_MS = 10_000;
let left = -Infinity;
addEventListener("beforeunload", () => (left = performance.now()));
document.addEventListener("htmx:beforeOnLoad", event => {
  const isRefresh = event.detail.xhr.getResponseHeader("HX-Refresh");
  if (isRefresh && performance.now() - left < LEAVING_MS) event.preventDefault();
});

// The address of a filtered list names only what is filtered.
document.addEventListener("htmx:configRequest", event => {
  const { verb, formData, elt } = event.detail;
  if (verb !== "get" || !elt.matches("form.pl-bar")) return;
  for (const [name, value] of [...formData.entries()]) if (value === "") formData.delete(name);
});

/** A refusal rendered as a page carries its sentence in [data-error-message]; that is what the person should read. */
function sentence(xhr) {
  if (!/text\/html/.test(xhr.getResponseHeader("Content-Type") ?? "")) return null;
  return new DOMParser()
    .parseFromString(xhr.responseText, "text/html")
    .querySelector("[data-error-message]")
    ?.textContent.trim();
}

document.addEventListener("htmx:responseError", event => {
  const { xhr } = event.detail,
    status = xhr.status;
  const text = { 403: words().forbidden, 404: words().gone, 413: words().tooLarge, 429: words().tooMany }[status];
  toast({ text: sentence(xhr) ?? text ?? fill(words().failed, { status }), tone: "fail" });
});

document.addEventListener("htmx:sendError", () => toast({ text: words().offline, tone: "warn" }));

document.addEventListener("htmx:xhr:progress", event => {
  // Answers have a progress too: only what sends files shows one.
  if (!event.target.closest?.("[hx-encoding]")) return;
  const { loaded, total, lengthComputable } = event.detail;
  const form = event.target.closest?.("form");
  const meter = form?.querySelector("[data-progress]");
  if (!meter || !lengthComputable || !total) return;
  const percent = Math.floor((loaded / total) * 100);
  meter.hidden = false;
  meter.querySelector("i").style.width = `${percent}%`;
  meter.querySelector("[role=progressbar]").setAttribute("aria-valuenow", percent);
  meter.querySelector("[data-percent]").textContent = `${percent}%`;
});
