// Secrets inside of strings: `password=…`, `"token": "…"`, `Authorization: Bearer …`.

import { SECRET_ENDS } from './names.js';

/** Stands for a secret. */
export const REDACTED = '[redacted]';

const CREDENTIALS = /\b(bearer|basic|dpop)\s{1,4}[\w.~+/=-]{16,}/gi;
/** The password in a URL, such as that of a database. */
const URL_PASSWORD = /(:\/\/[^\s/:@]{0,200}:)[^\s/@]{1,500}@/g;
// Cookies and authorization have parts, so the whole line goes. Every repetition is bounded or ends where the next part begins.
const HEADER_LINE = /((?:cookie|authorization)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)[^\r\n"'\\]+/gi;
/**
 * A colon may begin the second half of a sentence: "a random secret: all logins end". A secret is not one of these words with another
 * word after it, unless it is a passphrase.
 */
const PROSE =
  '(?<!pass[-_. ]?(?:word|wd|phrase|code)s?\\s{0,4}:\\s{1,4})(?<=:\\s{1,4})(?:all|an?|any|both|each|every|if|it|its|no|none|not|nothing|only|pass|see|set|so|such|that|the|then|there|these|they|this|those|use|we|when|you|your)\\s{1,4}[a-z]';
const MAY_HAVE_SECRETS = /[:=]|bearer|basic|dpop/i;

/** Hides the secrets of a string that can be recognized. */
export type HideInText = (text: string) => string;

/**
 * Makes a function that hides what follows the names of secrets, and these names, which are plain ones; `-`, `_`, dots and spaces in
 * the text do not count. Short names of the list (`pin`, `auth`) are words in a sentence, so that only fields have them.
 */
export function hideInText(own: readonly string[] = [], mask: string = REDACTED): HideInText {
  const names = [...SECRET_ENDS, ...own.filter(Boolean)].map((end) => [...end].join('[-_. ]?'));
  // Every repetition is bounded, or ends where the next part begins. A quoted value ends with its quote, any other with a space.
  const value = `(\\\\?")(?:[^"\\\\]|\\\\.)*|(\\\\?')(?:[^'\\\\]|\\\\.)*|[^\\s"',;&}]+`;
  // A secret that is hidden already may be inside of JSON in JSON, where its end is not that of a string.
  const isHidden = `\\\\?["']?${mask.replace(/[[\]]/g, '\\$&')}`;
  const pairs = new RegExp(
    `((?:${names.join('|')})s?\\\\?["']?\\s{0,4}[:=]\\s{0,4})(?!${isHidden}|${PROSE})(?:${value})`,
    'gi',
  );
  return (text) =>
    MAY_HAVE_SECRETS.test(text)
      ? text
          .replace(HEADER_LINE, `$1${mask}`)
          .replace(CREDENTIALS, `$1 ${mask}`)
          .replace(URL_PASSWORD, `$1${mask}@`)
          .replace(pairs, `$1$2$3${mask}`)
      : text;
}
