// Secrets whose values are known: hidden in whatever form a peer repeats them.

/** The options of `conceal`. */
export interface ConcealOptions {
  /** The mask that stands for a secret. Default: `…`. */
  readonly mask?: string | undefined;
  /** The shortest secret. A shorter string may be part of any word. Default: 4 characters. */
  readonly minLength?: number | undefined;
}

/**
 * A peer's text without these secrets, in whatever form it repeats them: as they are, as part of a URL or a form, or in JSON. To
 * be called before the text is shortened, because a part of a secret would not be found.
 */
export function conceal(
  text: string,
  secrets: readonly (string | undefined)[],
  { mask = '…', minLength = 4 }: ConcealOptions = {},
): string {
  const forms = secrets.flatMap((secret = '') => (secret.length < minLength ? [] : [...formsOf(secret)]));
  // The longest first: one form may be a part of another.
  const ordered = [...new Set(forms)].sort((one, other) => other.length - one.length);
  return ordered.reduce((clean, form) => clean.replaceAll(form, mask), text);
}

/** The secrets inside of the value of a header or variable: the token of `Bearer abc`, the password of Basic, the values of cookies. */
export function partsOf(value: string): readonly string[] {
  const [, scheme = '', token = ''] = /^(bearer|basic|dpop|token) {1,4}(\S+)$/i.exec(value.trim()) ?? [];
  const basic = scheme.toLowerCase() === 'basic' ? decodedPair(token) : '';
  const cookies = value.split(';').map((part) => part.slice(part.indexOf('=') + 1).trim());
  return [token, basic, basic.slice(basic.indexOf(':') + 1), ...cookies].filter(
    (part) => part !== '' && part !== value,
  );
}

/** A value that is a credential for certain, its words, and what is in them. */
export function piecesOf(value: string): readonly string[] {
  return [value, ...value.split(/[;,\s]+/)].flatMap((piece) => [piece, ...partsOf(piece)]);
}

/** The user name and password of Basic authentication. */
function decodedPair(encoded: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0)));
  } catch {
    return '';
  }
}

/** A value as it is written in text, in a URL, in a form, and in JSON inside of text. */
export function formsOf(secret: string): ReadonlySet<string> {
  const inForm = new URLSearchParams([['', secret]]).toString().slice(1);
  return new Set([
    secret,
    inForm,
    inForm.replaceAll('+', '%20'),
    encodeURIComponent(secret.replace(/\p{Surrogate}/gu, '\ufffd')),
    JSON.stringify(secret).slice(1, -1),
  ]);
}
