import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { unpack, withToken } from "../../static/src/js/pushed.js";

test("a pushed list says what it is and carries its HTML", async () => {
  const html = '<div id="runs">\n中文\n</div>';
  const data = deflateRawSync(Buffer.from(`${JSON.stringify({ list: "runs", url: "/training/?page=2" })}\n${html}`));
  const plain = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
  assert.deepEqual(await unpack(plain), { list: "runs", url: "/training/?page=2", html });
});

test("forms in it get the page's own token", () => {
  const root = { querySelector: () => ({ value: "own" }) };
  const html = '<input type="hidden" name="csrfmiddlewaretoken" value=""><input name="x" value="">';
  assert.equal(withToken(html, root), html.replace('value=""', 'value="own"'));
});
