// The page that the browser shows when a login has ended. Loaded with the first such page.

import { FONT_FACE } from '../../../face/font.js';

/** The end of a login. */
export interface LastPage {
  /** The name of the program that the user goes back to. */
  readonly name: string;
  /** The reason why the login failed; undefined if it worked. */
  readonly error: string | undefined;
}

/** The headers of the page: nothing is loaded, cached, framed or told to other sites. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; font-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};

/** Prints the page. */
export function printPage({ name, error }: LastPage): string {
  const isDone = error === undefined;
  const title = isDone ? 'You are logged in' : 'The login failed';
  const last = isDone
    ? `You can close this window and go back to ${name}.`
    : `Close this window, go back to ${name}, and try again.`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${asHtml(`${title} – ${name}`)}</title>
<style>${FONT_FACE}${style}</style>
<main${isDone ? '' : ' class="failed" role="alert"'}>
<svg viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="24"/><path d="${isDone ? 'M14 25l7 7 14-15' : 'M16 16l16 16M32 16L16 32'}"/></svg>
<h1>${title}</h1>
${isDone ? '' : `<p class="reason">${asHtml(error)}</p>\n`}<p>${asHtml(last)}</p>
</main>
</html>
`;
}

const style = `
:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --edge: #dfe2e7; --text: #1c2026; --soft: #555d69; --mark: #1b7f47; font: 17px/1.5 Inter, system-ui, sans-serif; }
.failed { --mark: #b3261e; }
@media (prefers-color-scheme: dark) {
:root { --back: #14171b; --card: #1e2227; --edge: #343a42; --text: #eceff3; --soft: #aab2bd; --mark: #2f9e62; }
.failed { --mark: #d5483d; }
}
body { display: grid; min-height: 100vh; min-height: 100dvh; margin: 0; padding: 1rem; box-sizing: border-box; place-items: center; background: var(--back); color: var(--text); }
main { width: 100%; max-width: 30rem; padding: 2.5rem clamp(1.25rem, 6vw, 2rem); box-sizing: border-box; border: 1px solid var(--edge); border-radius: 12px; background: var(--card); text-align: center; overflow-wrap: anywhere; }
svg { width: 3.5rem; height: 3.5rem; }
circle { fill: var(--mark); }
path { fill: none; stroke: #fff; stroke-width: 4; stroke-linecap: round; stroke-linejoin: round; }
h1 { margin: 1rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
h1, p { text-wrap: balance; }
p { margin: 0; color: var(--soft); }
.reason { margin: 1rem 0; padding: .75rem 1rem; border-left: 4px solid var(--mark); border-radius: 4px; background: var(--back); color: var(--text); font-size: .9rem; text-align: left; text-wrap: wrap; }
`;

function asHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
