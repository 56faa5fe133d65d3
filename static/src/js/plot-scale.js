// Where values lie on an axis, from 0 to 1, and what is written beside it. Pure, so that it can be tested without a page.
//
// A scale is {kind, at(value) → 0…1 or null, text(value), back(place) → value, ticks: [{at, text}], steps}: `steps` says how
// far the keys move on it.

export const short = v => (v == null || !Number.isFinite(+v) ? "—" : `${+(+v).toPrecision(5)}`);

const isNumber = v => typeof v === "number" && Number.isFinite(v);
const within = (value, low, high) => Math.min(high, Math.max(low, value));

/** Round numbers between two others, about as many as asked: steps of 1, 2 or 5 times a power of ten. */
export function roundTicks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count,
    power = 10 ** Math.floor(Math.log10(rough)),
    step = power * ([1, 2, 5, 10].find(each => each * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9),
    last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, k) => +((first + k) * step).toPrecision(12));
}

/** Powers of ten between two numbers; within few of them also their doubles and fivefolds. */
export function logTicks(low, high) {
  const from = Math.floor(Math.log10(low)),
    to = Math.ceil(Math.log10(high)),
    every = Math.max(1, Math.ceil((to - from) / 6)),
    times = to - from <= 2 ? [1, 2, 5] : [1];
  const found = [];
  for (let power = from; power <= to; power += every)
    for (const each of times) {
      const value = +(each * 10 ** power).toPrecision(12);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push(value);
    }
  return found.length ? found : [low];
}

function categoryScale(categories) {
  const last = categories.length - 1,
    at = value => {
      const place = categories.indexOf(value);
      return place < 0 ? null : last ? place / last : 0.5;
    };
  const every = Math.max(1, Math.ceil(categories.length / 12));
  return {
    kind: "category",
    at,
    text: value => value ?? "—",
    back: place => categories[Math.round(place * last)],
    ticks: categories.filter((_, k) => k % every === 0).map(value => ({ at: at(value), text: value })),
    steps: Math.max(1, last),
  };
}

/** @param {number} pad the share of the axis that is left free at each end */
function numberScale(values, log, pad) {
  const usable = values.filter(v => isNumber(v) && (!log || v > 0)),
    to = log ? Math.log10 : v => v,
    from = log ? v => 10 ** v : v => v;
  let low = usable.length ? to(usable.reduce((a, b) => Math.min(a, b))) : 0,
    high = usable.length ? to(usable.reduce((a, b) => Math.max(a, b))) : 1;
  const flat = !(high > low);
  if (flat) [low, high] = log ? [low - 0.5, high + 0.5] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
  else [low, high] = [low - (high - low) * pad, high + (high - low) * pad];
  const at = v => (isNumber(v) && (!log || v > 0) ? (to(v) - low) / (high - low) : null);
  const round = flat ? [from((low + high) / 2)] : log ? logTicks(from(low), from(high)) : roundTicks(low, high);
  return {
    kind: log ? "log" : "number",
    at,
    text: short,
    back: place => +from(low + within(place, 0, 1) * (high - low)).toPrecision(6),
    ticks: usable.length ? round.map(value => ({ at: at(value), text: short(value) })) : [],
    steps: 20,
  };
}

/** @param {{kind: string, categories: string[]}} axis */
export function scaleOf(axis, values, { log = axis.kind === "log", pad = 0 } = {}) {
  return axis.kind === "category" ? categoryScale(axis.categories) : numberScale(values, log, pad);
}

/** Whether an axis of these values may be logarithmic. */
export const mayBeLog = (axis, values) =>
  axis.kind !== "category" && values.some(isNumber) && values.every(v => !isNumber(v) || v > 0);

/** One of five shades, the strongest for the best or the highest; null where there is no value. */
export function shadeOf(axis, place) {
  if (place == null) return null;
  return Math.min(4, Math.floor((axis.better === "low" ? 1 - place : place) * 5));
}

/** Whether a row lies within every brush: `brushes` are [low, high] in places, by the axis' index. */
export const isWithin = (places, brushes) =>
  [...brushes].every(([k, [low, high]]) => places[k] != null && places[k] >= low - 1e-9 && places[k] <= high + 1e-9);

/** The best value so far after each trial that is complete: [{number, value}]. */
export function bestSoFar(trials, better) {
  const found = [];
  for (const { number, state, value } of [...trials].sort((a, b) => a.number - b.number)) {
    if (state !== "complete" || !isNumber(value)) continue;
    const best = found.at(-1)?.value;
    if (best === undefined || (better === "low" ? value < best : value > best)) found.push({ number, value });
  }
  return found;
}

/** The points that no other is as good as by both measures and better by one, from left to right: [x, y, …] with numbers. */
export function paretoFront(points, betterX, betterY) {
  const x = betterX === "low" ? 1 : -1,
    y = betterY === "low" ? 1 : -1;
  const sorted = points.filter(p => isNumber(p[0]) && isNumber(p[1])).sort((a, b) => x * (a[0] - b[0]) || y * (a[1] - b[1]));
  const found = [];
  for (const point of sorted) {
    const last = found.at(-1);
    if (!last || y * point[1] < y * last[1] || (point[0] === last[0] && point[1] === last[1])) found.push(point);
  }
  return x === 1 ? found : found.reverse();
}
