// Secrets inside of strings: `password=…`, `"token": "…"`, `Authorization: Bearer …`.

/** Stands for a secret. */
export const REDACTED = '[redacted]';

/** A name that ends with one of these is the name of a secret: `password`, `accessToken`, `X-Api-Key`. */
export const SECRET_ENDS: readonly string[] = [
  ...[
    'password',
    'passwords',
    'passwd',
    'passphrase',
    'passcode',
    'pwd',
    'secret',
    'secrets',
    'token',
    'tokens',
  ],
  ...['authorization', 'cookie', 'cookies', 'credential', 'credentials', 'apikey', 'apikeys', 'privatekey'],
  ...['secretkey', 'accesskey', 'signingkey', 'encryptionkey', 'connectionstring', 'jwt', 'bearer'],
];

const CREDENTIALS = /\b(bearer|basic|dpop)\s{1,4}[\w.~+/=-]{16,}/gi;
/** The password in a URL, such as that of a database. */
const URL_PASSWORD = /(:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,500}@/g;
const MAY_HAVE_SECRETS = /[:=]|bearer|basic|dpop/i;

/** Hides the values that follow a name in a string. */
export type HideInText = (text: string) => string;

/** Makes a function that hides what follows the names of secrets, and these names; `-`, `_`, dots and spaces in them do not count. */
export function hideInText(own: readonly string[] = []): HideInText {
  const ends = [...SECRET_ENDS, ...own];
  const names = ends.filter((end) => end !== '').map((end) => [...end].map(literal).join('[-_. ]?'));
  const name = `(?:${names.join('|')})\\\\?["']?\\s{0,4}[:=]\\s{0,4}`;
  // Every repetition is bounded, or ends where the next part begins. A quoted value ends with its quote, any other with a space.
  const value = `(\\\\?")(?:[^"\\\\]|\\\\.)*|(\\\\?')(?:[^'\\\\]|\\\\.)*|[^\\s"',;&}]+`;
  const isShown = `\\\\?["']?${[...REDACTED].map(literal).join('')}`;
  const pairs = new RegExp(`(${name})(?!${isShown})(?:${value})`, 'gi');
  return (text) =>
    MAY_HAVE_SECRETS.test(text)
      ? text
          .replace(CREDENTIALS, `$1 ${REDACTED}`)
          .replace(URL_PASSWORD, `$1${REDACTED}@`)
          .replace(pairs, `$1$2$3${REDACTED}`)
      : text;
}

function literal(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
