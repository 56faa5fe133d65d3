// data-copy="id" copies that element's text; data-copy-text="…" copies the text itself.
import { named, on, words } from "./dom.js";
import { toast } from "./toasts.js";

async function write(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  // Plain http has no clipboard interface; the old command still works there.
  const area = Object.assign(document.createElement("textarea"), { value: text });
  area.className = "visually-hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("copy refused");
}

on("click", "[data-copy], [data-copy-text]", async (event, button) => {
  const source = named(button.dataset.copy);
  const text = button.dataset.copyText ?? source?.value ?? source?.textContent ?? "";
  try {
    await write(text);
    toast({ text: words().copied, tone: "run" });
  } catch {
    toast({ text: words().copyFailed, tone: "warn" });
  }
});
