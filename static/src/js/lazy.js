// Charts, plots, the code editor, the terminal and logs are large, so each is fetched when a page first shows one.
// Their addresses come from <template id="pl-words">, because the static files' names carry a hash.
import { each, words } from "./dom.js";

const loaded = new Map();

function load(name) {
  if (!loaded.has(name)) loaded.set(name, import(words()[`src${name}`]));
  return loaded.get(name);
}

each("[data-chart], [data-curves]", async element => (await load("Charts")).mount(element));
each("[data-plot]", async element => (await load("Plots")).mount(element));
each("textarea[data-code]", async element => (await load("Editor")).mount(element));
each("[data-log]", async element => (await load("Log")).mount(element));
each("[data-terminal]", async element => (await load("Terminal")).mount(element));
