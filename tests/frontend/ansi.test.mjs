import assert from "node:assert/strict";
import test from "node:test";
import { AnsiLines } from "../../static/src/js/ansi.js";

const text = pieces => pieces.map(piece => piece.text).join("");
const lines = fed => fed.done.map(text);

test("lines end at a newline and the rest stays open", () => {
  const ansi = new AnsiLines();
  const fed = ansi.feed("one\ntwo\r\nthr");
  assert.deepEqual(lines(fed), ["one", "two"]);
  assert.equal(text(fed.open), "thr");
  assert.deepEqual(lines(ansi.feed("ee\n")), ["three"]);
});

test("a carriage return writes over the line, as progress bars do", () => {
  const ansi = new AnsiLines();
  assert.equal(text(ansi.feed(" 10%\r 50%").open), " 50%");
  assert.deepEqual(lines(ansi.feed("\r100%\n")), ["100%"]);
});

test("colours are kept, across lines and across a sequence cut in two", () => {
  const ansi = new AnsiLines();
  ansi.feed("\x1b[3");
  const [first, second] = ansi.feed("1;1mred\nstill\x1b[0m plain\n").done;
  assert.deepEqual([first[0].style.fg, first[0].style.bold], [1, true]);
  assert.deepEqual(
    second.map(piece => [piece.text, piece.style.fg]),
    [
      ["still", 1],
      [" plain", null],
    ],
  );
});

test("256 colours, true colours and bright ones", () => {
  const [line] = new AnsiLines().feed("\x1b[38;5;208ma\x1b[48;2;1;2;3mb\x1b[92mc\x1b[39;49md\n").done;
  assert.deepEqual(
    line.map(({ style }) => [style.fg, style.bg]),
    [
      ["rgb(255 135 0)", null],
      ["rgb(255 135 0)", "rgb(1 2 3)"],
      [10, "rgb(1 2 3)"],
      [null, null],
    ],
  );
});

test("every other control sequence is dropped", () => {
  const fed = new AnsiLines().feed("\x1b]0;title\x07a\x1b[2Kb\x1b[?25lc\x00d\x1b(e\n");
  assert.equal(lines(fed)[0].replace("(", ""), "abcde");
});
