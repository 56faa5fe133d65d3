// What every page loads.
import Dropdown from "bootstrap/js/dist/dropdown.js";
import Offcanvas from "bootstrap/js/dist/offcanvas.js";
import Alpine from "@alpinejs/csp";
import htmx from "htmx.org";

import "./requests.js";
import "./toasts.js";
import "./dialogs.js";
import "./press.js";
import "./forms.js";
import "./find.js";
import "./chips.js";
import "./copy.js";
import "./print.js";
import "./tables.js";
import "./row-keys.js";
import "./rows.js";
import "./dropzone.js";
import "./files.js";
import "./guard.js";
import "./clock.js";
import "./nav.js";
import "./jump.js";
import "./live.js";
import "./lazy.js";

// Menus in tables would be cut by the scrolling box around them: fixed ones are not.
Dropdown.Default.popperConfig = { strategy: "fixed" };
window.bootstrap = { Dropdown, Offcanvas };
window.htmx = htmx;
window.Alpine = Alpine;
Alpine.start();
