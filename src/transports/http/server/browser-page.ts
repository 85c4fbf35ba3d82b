// The page that a person sees who opens the endpoint in a browser. Loaded with the first such request.

import { FONT_FACE } from '../../../face/font.js';
import { MARK } from '../../../face/mark.js';
import type { HeaderFields, Incoming } from './incoming.js';

/** The facts of the page. */
export interface BrowserPageFacts {
  /** The name of the server; undefined if only callers that it knows may learn it. */
  readonly name: string | undefined;
  /** The path of the endpoint. */
  readonly path: string;
  /** The URL of the endpoint as clients see it; undefined if it is not known. */
  readonly publicUrl: string | undefined;
}

const STYLE = `${FONT_FACE}body{font:16px/1.5 Inter,system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1rem}h1{line-height:1.25;overflow-wrap:anywhere}.mark{color:#3b78e7}code{font:14px ui-monospace,monospace}pre{padding:.75rem;overflow:auto;border:1px solid}`;

/** The digest of the style, by which alone the page may have one. */
const STYLE_DIGEST = 'sha256-kQi3L7TP2/YXrWwcTiAyDqyuT0pzKY7PPSSdrjSPPHg=';

const HEADERS: HeaderFields = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${STYLE_DIGEST}'; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  vary: 'Accept, Origin',
};

/** Replies with a page that says what is served here, and how to connect to it. It has no script, and nothing of it is a secret. */
export function replyWithPage(incoming: Incoming, facts: BrowserPageFacts, headers: HeaderFields): void {
  incoming.reply(200, { ...headers, ...HEADERS }, pageOf(urlOf(incoming, facts), facts.name));
}

/** The host of the request has been checked. */
function urlOf(incoming: Incoming, { path, publicUrl }: BrowserPageFacts): string {
  return (
    publicUrl ?? `${incoming.secure ? 'https' : 'http'}://${incoming.header('host') ?? 'localhost'}${path}`
  );
}

function pageOf(url: string, name: string | undefined): string {
  const title = name === undefined ? 'An MCP server' : `${escaped(name)}: an MCP server`;
  const address = escaped(url);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
${MARK}
<h1>${title}</h1>
<p>A server of the Model Context Protocol is served here. It talks to programs, such as assistants and editors, and not to browsers. Paste this address into yours:</p>
<pre><code>${address}</code></pre>
<p>To look at its tools, resources and prompts, open it in the inspector:</p>
<pre><code>npx fullmcp inspect ${escaped(shellWord(url))}</code></pre>
<p>If that does not work, this says why:</p>
<pre><code>npx fullmcp doctor ${escaped(shellWord(url))}</code></pre>
</html>
`;
}

/** A word that a shell takes as it is. The address of an endpoint seldom has anything else. */
function shellWord(text: string): string {
  return /^[\w:/.@%+,=~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
