// <pl-style>: what xterm and CodeMirror get in place of a <style> element (see ../style-elements.mjs).
class StyleElement extends HTMLElement {
  #sheet = new CSSStyleSheet();

  set textContent(css) {
    this.#sheet.replaceSync(css);
  }
  get textContent() {
    return "";
  }
  set innerHTML(css) {
    this.textContent = css;
  }
  get sheet() {
    return this.#sheet;
  }

  connectedCallback() {
    if (!document.adoptedStyleSheets.includes(this.#sheet)) document.adoptedStyleSheets.push(this.#sheet);
  }

  // Moving the element disconnects and connects it, so the sheet leaves only with the element.
  disconnectedCallback() {
    queueMicrotask(() => {
      if (!this.isConnected)
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter(sheet => sheet !== this.#sheet);
    });
  }
}

if (!customElements.get("pl-style")) customElements.define("pl-style", StyleElement);
