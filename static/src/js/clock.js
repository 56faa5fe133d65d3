// Durations and costs that go on between two answers of the server; the server's number wins whenever it comes.
// Elapsed time counts from the moment the element appeared, so a wrong clock in the browser changes nothing.
import { each, fill, words } from "./dom.js";

const ticking = new Map();

/** Seconds as "38 s", "26 min", "3 h 12 min", "6 d 5 h" in the page's language. */
export function spoken(seconds) {
  const s = Math.max(0, Math.floor(seconds)),
    w = words();
  if (s < 60) return fill(w.seconds, { s });
  const m = Math.floor(s / 60),
    h = Math.floor(m / 60),
    d = Math.floor(h / 24);
  if (h < 1) return fill(w.minutes, { m });
  if (d < 1) return m % 60 ? fill(w.hoursMinutes, { h, m: m % 60 }) : fill(w.hours, { h });
  return h % 24 ? fill(w.daysHours, { d, h: h % 24 }) : fill(w.days, { d });
}

const clock = s =>
  [Math.floor(s / 3600), Math.floor(s / 60) % 60, Math.floor(s) % 60]
    .map((n, k) => (k ? String(n).padStart(2, "0") : n))
    .join(":");

const yuan = fen =>
  "¥" + (Math.floor(fen) / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function show(element, text) {
  if (element.textContent === text) return;
  element.textContent = text;
}

function tick() {
  for (const [element, since] of ticking) {
    if (!element.isConnected) {
      ticking.delete(element);
      continue;
    }
    const passed = (performance.now() - since) / 1000,
      data = element.dataset;
    if (data.costFen !== undefined) show(element, yuan(+data.costFen + (passed / 3600) * +data.rateFen));
    else if (data.format === "left") show(element, clock(Math.max(0, +data.elapsed - passed)));
    else if (data.format === "clock") show(element, clock(+data.elapsed + passed));
    else show(element, spoken(+data.elapsed + passed));
  }
}

each("[data-elapsed], [data-cost-fen]", element => ticking.set(element, performance.now()));
setInterval(tick, 1000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) tick();
});

// Times of day are those of the person who types them.
each("[data-time-zone]", input => {
  input.value = Intl.DateTimeFormat().resolvedOptions().timeZone || input.value;
});
