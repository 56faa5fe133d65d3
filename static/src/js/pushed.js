// A list that the server has drawn: a line of JSON {"list", "url"}, then its HTML; deflated without a header.

export async function unpack(data) {
  const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const text = await new Response(stream).text();
  const end = text.indexOf("\n");
  return { ...JSON.parse(text.slice(0, end)), html: text.slice(end + 1) };
}

const NO_TOKEN = 'name="csrfmiddlewaretoken" value=""';

/** It was drawn for many: the token of its forms is this page's own. */
export function withToken(html, root = document) {
  const own = root.querySelector('[name="csrfmiddlewaretoken"]:not([value=""])')?.value ?? "";
  return html.replaceAll(NO_TOKEN, NO_TOKEN.replace('""', `"${own}"`));
}
