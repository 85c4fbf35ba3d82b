// The page that the browser shows when a login has ended.

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
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};

/** Prints the page. */
export function printPage({ name, error }: LastPage): string {
  const title = error === undefined ? 'You are logged in' : 'The login failed';
  const text =
    error === undefined
      ? `You can close this window and go back to ${name}.`
      : `${error} Close this window, go back to ${name}, and try again.`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${asHtml(title)}</title>
<style>
:root { color-scheme: light dark; font: 17px/1.5 system-ui, sans-serif; }
body { display: grid; min-height: 100vh; margin: 0; place-items: center; background: Canvas; color: CanvasText; }
main { max-width: 30rem; padding: 2rem; text-align: center; overflow-wrap: anywhere; }
.mark { font-size: 3rem; line-height: 1; color: ${error === undefined ? '#1a8f4c' : '#c5392c'}; }
h1 { font-size: 1.5rem; margin: 1rem 0 .5rem; }
p { margin: 0; opacity: .8; }
</style>
<main>
<div class="mark" aria-hidden="true">${error === undefined ? '&#10003;' : '&#10007;'}</div>
<h1>${asHtml(title)}</h1>
<p>${asHtml(text)}</p>
</main>
</html>
`;
}

function asHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
