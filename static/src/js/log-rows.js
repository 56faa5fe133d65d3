// A log as rows: one line each, as it is shown, with the bytes that it stands for. No page is needed here.
//
//   {offset, end, at, text, spans: [[from, to, style], …], overwritten, open}
//
// `at`: Unix ms or null. `overwritten`: a carriage return wrote over earlier states of the line. `open`: it may go on.
import { AnsiLines, isOverwritten } from "./ansi.js";

const LONGEST = 64 * 1024; // characters; a line without an end is cut here, or it would be parsed for ever
const MAX_TIMES = 20_000;
const PLAIN = style => !style.bold && !style.dim && !style.italic && !style.underline && style.fg === null && style.bg === null;

function row(pieces, offset, end, at, open = false) {
  let text = "";
  const spans = [];
  for (const piece of pieces) {
    if (!PLAIN(piece.style)) spans.push([text.length, text.length + piece.text.length, piece.style]);
    text += piece.text;
  }
  return { offset, end, at, text, spans, overwritten: isOverwritten(pieces), open };
}

/** The last of a sorted list with `key(item) <= wanted`, as an index; -1 before the first. */
export function lastAtOrBefore(list, wanted, key) {
  let low = 0,
    high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]) <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Bytes as they arrive, in any pieces, to rows. */
export class RowReader {
  #ansi = new AnsiLines();
  #decoder = new TextDecoder();
  #times = [];
  #start;
  #end;

  constructor(offset) {
    this.#start = this.#end = offset;
  }

  times(list) {
    for (const one of list) if (one[0] > (this.#times.at(-1)?.[0] ?? -1)) this.#times.push(one);
    if (this.#times.length > 2 * MAX_TIMES) this.#times = this.#times.slice(-MAX_TIMES);
  }

  #at(offset) {
    const place = lastAtOrBefore(this.#times, offset, one => one[0]);
    return place < 0 ? null : this.#times[place][1];
  }

  /** The rows that these bytes end, and the one that they leave open, or null. */
  push(bytes) {
    const { done, open } = this.#ansi.feed(this.#decoder.decode(bytes, { stream: true }));
    const rows = [];
    let from = 0;
    for (const pieces of done) {
      const feed = bytes.indexOf(10, from);
      const end = this.#end + feed + 1;
      rows.push(row(pieces, this.#start, end, this.#at(this.#start)));
      this.#start = end;
      from = feed + 1;
    }
    this.#end += bytes.length;
    if (this.#end === this.#start) return { rows, open: null };
    const last = row(open, this.#start, this.#end, this.#at(this.#start), true);
    if (last.text.length <= LONGEST) return { rows, open: last };
    this.#ansi.cut();
    this.#start = this.#end;
    rows.push({ ...last, open: false });
    return { rows, open: null };
  }
}

/** Lines of the API to rows; colours begin plain. */
export function rowsOf(lines) {
  const ansi = new AnsiLines();
  return lines.map(line => {
    const [pieces] = ansi.feed(`${line.text}\n`).done;
    return row(pieces, line.offset, line.end, line.at && Date.parse(line.at));
  });
}

/** A row with every state that was written over, one after another. */
export function unrolled(line) {
  const ansi = new AnsiLines();
  const states = line.text.split("\r").filter(state => state);
  const [pieces] = ansi.feed(`${states.join(" ␍ ")}\n`).done;
  return { ...row(pieces, line.offset, line.end, line.at && Date.parse(line.at)), whole: true };
}

const NUMBERS = /0x[0-9a-f]+|\d+(?:[.,:/]?\d+)*(?:e[+-]?\d+)?/gi;

/** What lines that differ in their numbers only have in common; "" for a line that is never folded. */
export function shape(line) {
  if (line.shape === undefined)
    line.shape = line.text.length > 2000 ? "" : line.text.trim().replace(NUMBERS, "#").replace(/\s+/g, " ");
  return line.shape;
}

const HEAD = 2,
  TAIL = 1,
  END = 24, // of what arrives now more stays to be seen
  LEAST = 24;

/** Stretches [first, last] of rows to hide: many in a row that are alike, but for those at either end. */
export function folds(rows) {
  const found = [];
  for (let from = 0; from < rows.length; ) {
    const alike = shape(rows[from]);
    let to = from + 1;
    while (to < rows.length && shape(rows[to]) === alike) to++;
    const first = from + HEAD,
      last = to - 1 - (to === rows.length ? END : TAIL);
    if (alike && last - first + 1 >= LEAST) hide(rows, first, last, found);
    from = to;
  }
  return found;
}

function hide(rows, first, last, found) {
  let from = first;
  for (let k = first; k <= last + 1; k++) {
    if (k <= last && !rows[k].unfolded) continue;
    if (k - from >= LEAST) found.push([from, k - 1]);
    from = k + 1;
  }
}
