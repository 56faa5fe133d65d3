// What may be pasted into a terminal of a text from the clipboard.
//
// It is typed, so it goes without what a terminal takes for keys or commands. xterm puts a paste into brackets without
// looking into it: a copied text that has the end of the bracket in it would type, and run, whatever follows.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

export const pasteable = text => text.replace(CONTROLS, "");
