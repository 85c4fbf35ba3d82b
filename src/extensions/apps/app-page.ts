// Makes the HTML document of an app, with the bridge in it.

import { BRIDGE } from './bridge-text.js';

/** The parts of a page. They are written by the author of the app; data of others belongs in `data`. */
export interface AppPage {
  /** The title. Default: none. */
  readonly title?: string;
  /** The language of the page, such as `en`. Default: none. */
  readonly lang?: string;
  /** CSS. */
  readonly style?: string;
  /** The HTML of the body. */
  readonly body?: string;
  /** A JavaScript module that runs at the end of the page, with the function `connectToHost`. It may use `await` at its top level. */
  readonly script?: string;
  /** Data for the script: `JSON.parse(document.getElementById('data').textContent)`. Any JSON value; it is escaped. */
  readonly data?: unknown;
}

/**
 * Makes an HTML document with the bridge: its script calls `connectToHost`. Throws a TypeError for a script or a style that would end too
 * early.
 *
 * @example
 * const html = appPage({
 *   body: '<output></output>',
 *   script: `await connectToHost({ onResult: ({ structuredContent }) => { … } });`,
 * });
 */
export function appPage({ title, lang, style, body = '', script = '', data }: AppPage): string {
  return [
    `<!doctype html>\n<html${lang === undefined ? '' : ` lang="${escapeHtml(lang)}"`}>\n<head>\n<meta charset="utf-8">`,
    ...(title === undefined ? [] : [`<title>${escapeHtml(title)}</title>`]),
    ...(style === undefined ? [] : [`<style>\n${whole(style, 'style')}\n</style>`]),
    bridgeScript(),
    '</head>\n<body>',
    body,
    ...(data === undefined ? [] : [embedJson('data', data)]),
    `<script type="module">\n${whole(script, 'script')}\n</script>\n</body>\n</html>\n`,
  ].join('\n');
}

/** The bridge as a `<script>` element, for pages that are not made by `appPage`. It defines the function `connectToHost`. */
export function bridgeScript(): string {
  return `<script>${BRIDGE}</script>`;
}

/** A JSON value as a `<script>` element with an id, which nothing in the value can end. */
export function embedJson(id: string, value: unknown): string {
  const json = JSON.stringify(value);
  if (json === undefined) throw new TypeError(`The data for "${id}" is not a JSON value.`);
  return `<script type="application/json" id="${escapeHtml(id)}">${json.replaceAll('<', '\\u003c')}</script>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Code that stays inside of its element. A `<!--` would hide the end of a script from the browser. */
function whole(code: string, element: 'script' | 'style'): string {
  const found = new RegExp(`</${element}|<!--`, 'i').exec(code)?.[0];
  if (found === undefined) return code;
  throw new TypeError(
    `The ${element} of the page has ${found} in it, which ends it for the browser. Write "\\x3c${found.slice(1)}" in a string, and put data of others in "data".`,
  );
}
