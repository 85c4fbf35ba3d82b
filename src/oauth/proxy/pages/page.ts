import { MARK } from '../../../face/mark.js';
import { digestOf } from '../../../protocol/canonical.js';
import { encodeBase64 } from '../../../protocol/encoding/base64.js';
import { Html, html } from './html.js';

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

/** The parts that all pages have in common. */
interface Look {
  readonly style: string;
  readonly policy: string;
}

let look: Promise<Look> | undefined;

/** Prints a page. It has no script, loads nothing, cannot be framed, and its forms lead only to ourselves. */
export async function pageReply({ title, body, status = 200, cookies = [], next }: Page): Promise<Response> {
  look ??= loadLook();
  const { style, policy } = await look;
  const headers = new Headers({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy,
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
${new Html(`<style>${style}</style>`)}
</head>
<body>
<main>
${new Html(MARK)}
${body}
</main>
</body>
</html>
`;
  return new Response(document.text, { status, headers });
}

/** The font is loaded with the first page: most processes never send one. */
async function loadLook(): Promise<Look> {
  const { FONT_FACE } = await import('../../../face/font.js');
  const style = `${FONT_FACE}${STYLE}`;
  const digest = encodeBase64(await digestOf(style));
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; font-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
  return { style, policy };
}

/** The style of all pages. Its digest is in the policy of the pages, so it must be in them exactly as it is here. */
const STYLE: string = `
:root{color-scheme:light dark;--page:#f3f4f6;--card:#fff;--ink:#15181e;--soft:#555d6b;--line:#dde1e7;--accent:#1f5bd6;--on-accent:#fff;--warn:#fff5dc;--warn-line:#e2b64a;--warn-ink:#573d00}
@media (prefers-color-scheme:dark){:root{--page:#0f1216;--card:#191d24;--ink:#eceff4;--soft:#a5aebd;--line:#313845;--accent:#7aa7ff;--on-accent:#08152b;--warn:#332a12;--warn-line:#8a6d1f;--warn-ink:#f6dea0}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;align-items:center;justify-items:center;padding:24px 16px;background:var(--page);color:var(--ink);font:16px/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:480px;background:var(--card);border:1px solid var(--line);border-radius:14px;padding:32px;box-shadow:0 6px 24px rgb(0 0 0/.07)}
.mark{display:block;margin:0 0 20px;color:var(--accent)}
h1{margin:0 0 8px;font-size:1.4rem;line-height:1.3;font-weight:650;overflow-wrap:anywhere;text-wrap:balance}
p{margin:0 0 16px;overflow-wrap:anywhere}
.soft{color:var(--soft)}
dl{margin:20px 0;border:1px solid var(--line);border-radius:10px}
dl>div{padding:12px 16px}
dl>div+div{border-top:1px solid var(--line)}
dt{color:var(--soft);font-size:.875rem}
dd{margin:2px 0 0;overflow-wrap:anywhere}
dd strong{font-weight:600}
dd small{display:block;color:var(--soft);font-size:.875rem}
ul{margin:4px 0 0;padding-left:1.2em}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.warn{margin:0 0 20px;padding:12px 16px;border:1px solid var(--warn-line);border-radius:10px;background:var(--warn);color:var(--warn-ink)}
.remember{display:flex;gap:10px;align-items:flex-start;margin:0 0 20px}
.remember input{margin:4px 0 0;width:16px;height:16px;accent-color:var(--accent);flex:none}
.actions{display:flex;gap:12px;flex-wrap:wrap}
button,.button{flex:1 1 140px;min-height:46px;padding:10px 18px;border-radius:10px;border:1px solid var(--soft);background:transparent;color:var(--ink);font:inherit;font-weight:600;text-align:center;text-decoration:none;cursor:pointer}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button:hover,.button:hover{filter:brightness(1.06)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.foot{margin:20px 0 0;font-size:.875rem;color:var(--soft)}
@media (max-width:480px){body{align-items:start;padding:0;background:var(--card)}main{border:0;border-radius:0;box-shadow:none;padding:24px 20px}.actions{flex-direction:column}button,.button{flex:none}}
`.replaceAll('\n', '');
