// Code editor over <textarea data-code="python|shell|json|text">; the textarea stays the form's field.
import "./style-element.js";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { minimalSetup } from "codemirror";

const LANGUAGES = { python, json, shell: () => StreamLanguage.define(shell), text: () => [] };

// Ink only: colour is state. Comments step back, keywords stand firm, strings lean.
const inks = HighlightStyle.define([
  { tag: [tags.comment, tags.meta], color: "var(--pl-ink-3)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], fontWeight: "600" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--pl-d2)" },
  { tag: [tags.function(tags.variableName), tags.definition(tags.variableName)], fontWeight: "500" },
  { tag: tags.invalid, color: "var(--pl-fail)" },
]);

// Its own sheet comes after ours, so what must win over it is said here, sizes too: the gutter follows measured lines.
const layout = EditorView.theme({
  "&": { fontSize: "var(--pl-f1)" },
  ".cm-scroller": { fontFamily: "var(--pl-mono)", lineHeight: "20px" },
  ".cm-gutters": { background: "var(--pl-sunken)", color: "var(--pl-ink-3)", borderRight: "1px solid var(--pl-line)" },
  ".cm-content": { caretColor: "var(--pl-ink)" },
  ".cm-cursor": { borderLeftColor: "var(--pl-ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--pl-d5) !important" },
});

export function mount(textarea) {
  const label = textarea.labels?.[0]?.textContent ?? textarea.getAttribute("aria-label") ?? "";
  const changed = EditorView.updateListener.of(update => {
    if (!update.docChanged) return;
    textarea.value = update.state.doc.toString();
    textarea.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const left = EditorView.domEventHandlers({
    blur: () => {
      textarea.dispatchEvent(new Event("change", { bubbles: true }));
    },
  });
  const box = document.createElement("div");
  textarea.after(box);
  const view = new EditorView({
    parent: box,
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        lineNumbers(),
        minimalSetup,
        layout,
        LANGUAGES[textarea.dataset.code]?.() ?? [],
        syntaxHighlighting(inks),
        changed,
        left,
        EditorView.editorAttributes.of({
          class: textarea.classList.contains("is-invalid") ? "pl-editor is-invalid" : "pl-editor",
        }),
        EditorState.readOnly.of(textarea.readOnly || textarea.disabled),
        EditorView.contentAttributes.of({
          "aria-label": label.trim(),
          ...(textarea.getAttribute("aria-describedby") && {
            "aria-describedby": textarea.getAttribute("aria-describedby"),
          }),
        }),
      ],
    }),
  });
  textarea.hidden = true;
  textarea.labels?.forEach(element => element.addEventListener("click", () => view.focus()));
  // A script may fill the field ("use this example"): what it sets shows.
  textarea.addEventListener("pl:set", event =>
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: event.detail } }),
  );
  return view;
}
