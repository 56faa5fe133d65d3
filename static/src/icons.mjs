// The icon font, cut down to the glyphs that the templates and the code name: 500 kB become about 20.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import subsetFont from "subset-font";

const WEBFONT = "node_modules/@tabler/icons-webfont/dist";
const SOURCES = [
  ["templates", /\.html$/],
  ["apps", /\.(py|html)$/],
  ["static/src/js", /\.js$/],
];

// A name may stand as a class (ti-flask) or as a plain value (icon="flask", Icon("flask")), so quoted words count.
const WORDS = /ti-([a-z0-9-]+)|["']([a-z0-9]+(?:-[a-z0-9]+)*)["']/g;

async function* files(folder, pattern) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isFile() && pattern.test(entry.name)) yield join(entry.parentPath ?? entry.path, entry.name);
}

async function glyphs() {
  const css = await readFile(join(WEBFONT, "tabler-icons.css"), "utf8");
  return new Map(
    [...css.matchAll(/\.ti-([a-z0-9-]+):before\s*\{\s*content:\s*"\\([0-9a-f]+)"/g)].map(m => [m[1], m[2]]),
  );
}

async function namesInUse(known) {
  const used = new Set();
  for (const [folder, pattern] of SOURCES) {
    for await (const path of files(folder, pattern)) {
      for (const m of (await readFile(path, "utf8")).matchAll(WORDS))
        if (known.has(m[1] ?? m[2])) used.add(m[1] ?? m[2]);
    }
  }
  return [...used].sort();
}

/** The rules and the font of every icon in use: {css, woff2, count}. `family` is the file name the rules refer to. */
export async function iconSubset(fontFile) {
  const known = await glyphs();
  const names = await namesInUse(known);
  const text = names.map(name => String.fromCodePoint(parseInt(known.get(name), 16))).join("");
  const woff2 = await subsetFont(await readFile(join(WEBFONT, "fonts/tabler-icons.ttf")), text, {
    targetFormat: "woff2",
  });
  const head = `@font-face{font-family:"tabler-icons";font-display:block;src:url("./${fontFile}") format("woff2")}
.ti { font-family: "tabler-icons" !important; font-style: normal; font-weight: 400; line-height: 1; text-transform: none; }\n`;
  return {
    css: head + names.map(name => `.ti-${name}:before{content:"\\${known.get(name)}"}`).join("\n"),
    woff2,
    count: names.length,
  };
}
