// Terminal output as lines of coloured pieces. Keeps SGR colours, lets a carriage return write over the line
// (progress bars), drops every other control sequence.

const CONTROL =
  /\x1b\[([0-9;:?]*)([@-~])|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|[\r\n\b]|[\x00-\x08\x0b-\x1f\x7f]/g;
const UNFINISHED = /\x1b(?:\[[0-9;:?]*|\][^\x07\x1b\n]{0,200})?$/;
const PLAIN = { bold: false, dim: false, italic: false, underline: false, fg: null, bg: null };

const cube = n => (n ? 55 + 40 * n : 0);

/** 256-colour number as a class (the first 16 follow the theme) or a colour. */
function indexed(n) {
  if (n < 16) return n;
  if (n > 231) {
    const v = 8 + 10 * (n - 232);
    return `rgb(${v} ${v} ${v})`;
  }
  const k = n - 16;
  return `rgb(${cube(Math.floor(k / 36))} ${cube(Math.floor(k / 6) % 6)} ${cube(k % 6)})`;
}

function extended(codes) {
  if (codes[0] === 5) return [indexed(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [`rgb(${codes[1] ?? 0} ${codes[2] ?? 0} ${codes[3] ?? 0})`, 4];
  return [null, 1];
}

const SIMPLE = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  39: { fg: null },
  49: { bg: null },
};

function styled(style, parameters) {
  const codes = (parameters || "0").split(/[;:]/).map(Number);
  let next = { ...style };
  for (let k = 0; k < codes.length; k++) {
    const c = codes[k];
    if (c === 0) next = { ...PLAIN };
    else if (SIMPLE[c]) Object.assign(next, SIMPLE[c]);
    else if (c >= 30 && c <= 37) next.fg = c - 30;
    else if (c >= 90 && c <= 97) next.fg = c - 82;
    else if (c >= 40 && c <= 47) next.bg = c - 40;
    else if (c >= 100 && c <= 107) next.bg = c - 92;
    else if (c === 38 || c === 48) {
      const [colour, used] = extended(codes.slice(k + 1));
      next[c === 38 ? "fg" : "bg"] = colour;
      k += used;
    }
  }
  return next;
}

const overwritten = new WeakSet();

/** Whether a line of `AnsiLines` has earlier states that a carriage return wrote over. */
export const isOverwritten = line => overwritten.has(line);

export class AnsiLines {
  #style = { ...PLAIN };
  #line = [];
  #rest = "";
  #restart = false;

  /** The lines that `text` ends and the one it leaves open: {done: [pieces], open: pieces}; a piece is {text, style}. */
  feed(text) {
    text = this.#rest + text;
    this.#rest = text.match(UNFINISHED)?.[0] ?? "";
    if (this.#rest) text = text.slice(0, -this.#rest.length);
    const done = [];
    let from = 0;
    for (const m of text.matchAll(CONTROL)) {
      this.#put(text.slice(from, m.index));
      from = m.index + m[0].length;
      if (m[0] === "\n") {
        done.push(this.#line);
        this.#line = [];
        this.#restart = false;
      } else if (m[0] === "\r") this.#restart = true;
      else if (m[2] === "m") this.#style = styled(this.#style, m[1]);
    }
    this.#put(text.slice(from));
    return { done, open: this.#line };
  }

  /** Ends the open line here, as if it had ended, and returns it: for one that grows beyond all measure. */
  cut() {
    const line = this.#line;
    this.#line = [];
    this.#restart = false;
    return line;
  }

  #put(text) {
    if (!text) return;
    if (this.#restart) {
      const wasWritten = this.#line.length > 0;
      this.#line = [];
      this.#restart = false;
      if (wasWritten) overwritten.add(this.#line);
    }
    this.#line.push({ text, style: this.#style });
  }
}
