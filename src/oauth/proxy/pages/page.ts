import { encodeBase64 } from '../../../protocol/encoding/base64.js';
import { digestOf } from '../../../state/canonical.js';
import { Html, html } from './html.js';
import { STYLE } from './style.js';

// The frame of all pages, and the headers that keep other sites out of them.

/** A page. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Default: 200. */
  readonly status?: number;
  /** The cookies to set. Default: none. */
  readonly cookies?: readonly string[];
  /** The address that the browser opens next, without a click. Default: none. */
  readonly next?: string;
}

let policy: Promise<string> | undefined;

/** Prints a page. It has no script, loads nothing, cannot be framed, and its forms lead only to ourselves. */
export async function pageReply({ title, body, status = 200, cookies = [], next }: Page): Promise<Response> {
  policy ??= contentPolicy();
  const headers = new Headers({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': await policy,
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    // With "no-referrer", browsers would not tell the origin of a form.
    'referrer-policy': 'same-origin',
  });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${next !== undefined && html`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${title}</title>
${new Html(`<style>${STYLE}</style>`)}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return new Response(document.text, { status, headers });
}

async function contentPolicy(): Promise<string> {
  const digest = encodeBase64(await digestOf(STYLE));
  return `default-src 'none'; style-src 'sha256-${digest}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
}
