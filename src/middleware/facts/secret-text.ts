// Secrets inside of strings: `password=…`, `"token": "…"`, `Authorization: Bearer …`.

const CREDENTIALS = /\b(bearer|basic|dpop)\s{1,4}[\w.~+/=-]{16,}/gi;
const MAY_HAVE_SECRETS = /[:=]|bearer|basic|dpop/i;

/** Hides the values that follow a name in a string. */
export type HideInText = (text: string) => string;

/** Makes a function that hides what follows these names, if they end with one of `ends`; `-`, `_`, dots and spaces in them do not count. */
export function hideInText(ends: readonly string[], shown: string): HideInText {
  const names = ends.filter((end) => end !== '').map((end) => [...end].map(literal).join('[-_. ]?'));
  const name = `(?:${names.join('|')})\\\\?["']?\\s{0,4}[:=]\\s{0,4}`;
  // Every repetition is bounded, or ends where the next part begins. A quoted value ends with its quote, any other with a space.
  const value = `(\\\\?")(?:[^"\\\\]|\\\\.)*|(\\\\?')(?:[^'\\\\]|\\\\.)*|[^\\s"',;&}]+`;
  const isShown = `\\\\?["']?${[...shown].map(literal).join('')}`;
  const pairs = new RegExp(`(${name})(?!${isShown})(?:${value})`, 'gi');
  return (text) =>
    MAY_HAVE_SECRETS.test(text)
      ? text.replace(CREDENTIALS, `$1 ${shown}`).replace(pairs, `$1$2$3${shown}`)
      : text;
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
