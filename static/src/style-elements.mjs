// The pages' policy (style-src 'self') refuses <style> elements made by scripts, and xterm and CodeMirror make some.
// Their code is built with <pl-style> instead, an element that keeps its rules in a constructed style sheet
// (static/src/js/style-element.js), which the policy allows because only a script can make one.
import { readFile } from "node:fs/promises";

export const styleElements = {
  name: "style-elements",
  setup(build) {
    build.onLoad({ filter: /(@xterm[\\/]xterm[\\/]lib|style-mod[\\/]src)[\\/].*\.m?js$/ }, async args => {
      const source = await readFile(args.path, "utf8");
      const contents = source.replace(/createElement\((["'])style\1\)/g, 'createElement("pl-style")');
      if (contents === source)
        return { errors: [{ text: `no style element found in ${args.path}: is the replacement still needed?` }] };
      return { contents, loader: "js" };
    });
  },
};
