// Builds static/dist from static/src. Run in the repository root: node static/src/build.mjs [--watch]
import { mkdir, writeFile } from "node:fs/promises";
import { context } from "esbuild";
import { iconSubset } from "./icons.mjs";
import { styleElements } from "./style-elements.mjs";

const OUT = "static/dist";
const ICON_FONT = "icons.woff2";

/** `import "virtual:icons.css"` gives the rules of the icons in use; the font is written beside them. */
const icons = {
  name: "icons",
  setup(build) {
    build.onResolve({ filter: /^virtual:icons\.css$/ }, () => ({ path: "icons.css", namespace: "icons" }));
    build.onResolve({ filter: /icons\.woff2$/ }, args => ({ path: args.path, external: true }));
    build.onLoad({ filter: /.*/, namespace: "icons" }, async () => {
      const { css, woff2, count } = await iconSubset(ICON_FONT);
      await writeFile(`${OUT}/${ICON_FONT}`, woff2);
      console.log(`icons: ${count} glyphs, ${(woff2.length / 1024).toFixed(1)} kB`);
      return { contents: css, loader: "css" };
    });
  },
};

const watching = process.argv.includes("--watch");
await mkdir(OUT, { recursive: true });
const build = await context({
  entryPoints: [
    ...["app", "theme", "editor", "charts", "plots", "terminal", "log"].map(name => ({ in: `static/src/js/${name}.js`, out: name })),
    { in: "static/src/css/app.css", out: "app" },
  ],
  entryNames: "[name]",
  outdir: OUT,
  bundle: true,
  minify: !watching,
  sourcemap: watching,
  format: "esm",
  target: ["es2022", "chrome111", "firefox115", "safari16.4"],
  legalComments: "none",
  logLevel: "warning",
  plugins: [icons, styleElements],
});
if (watching) await build.watch();
else {
  await build.rebuild();
  await build.dispose();
}
