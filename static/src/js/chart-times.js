// What a chart's bars stand for: whole months, whole days, or moments.

const MONTH = "2026-11".length,
  DAY = "2026-11-22".length,
  MINUTE = "2026-11-22 20:15".length,
  DAY_MS = 86_400_000;

/**
 * For the times of bars (ms, already in the zone that is shown): `name(t)` is `2026-11`, `2026-11-22` or
 * `2026-11-22 20:15`, and `apart` is the least distance of two labels on the axis in ms (undefined: as it likes).
 */
export function stepOf(times) {
  const length = wholeOf(times);
  const apart = { [MONTH]: 28 * DAY_MS, [DAY]: DAY_MS }[length];
  return { apart, name: t => new Date(t).toISOString().slice(0, length).replace("T", " ") };
}

function wholeOf(times) {
  const written = times.map(t => new Date(t).toISOString());
  const whole = tail => written.every(text => text.endsWith(tail));
  // One bar alone on the first of a month is a day as well as a month: the day is what is surely right.
  if (new Set(times).size > 1 && whole("-01T00:00:00.000Z")) return MONTH;
  return whole("T00:00:00.000Z") ? DAY : MINUTE;
}
