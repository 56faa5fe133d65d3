// data-print prints the page; what is not meant for paper is left out by the style sheet.
import { on } from "./dom.js";

on("click", "[data-print]", () => window.print());
