// Bodies of the requests and replies of a login, with their secrets masked.

import { tryParse } from '../../../jsonrpc/try-parse.js';
import { copyWithoutSecrets } from '../../../protocol/secrets/copy.js';
import { hideRecognized } from '../../../protocol/secrets/recognized.js';
import { withoutUser } from '../../../protocol/secrets/url.js';
import { isLoginSecret, MASK, maskAddress, maskValue } from '../../wiretap/mask.js';

const MAX_BODY = 20_000;

const maskText = hideRecognized([], MASK);

const maskFields = copyWithoutSecrets({
  isSecretName: isLoginSecret,
  hide: (secret) => (typeof secret === 'string' ? maskValue(secret) : MASK),
  hidePart: maskValue,
  text: maskText,
  limits: { maxString: MAX_BODY, maxDepth: 20, maxChars: 2 * MAX_BODY },
});

/** A form or JSON with its secrets masked. Anything else is a page, of which the beginning is enough. */
export function maskBody(text: string, type: string): string {
  if (text === '') return '';
  if (type.includes('json') || /^\s{0,20}[[{]/.test(text)) {
    const value = tryParse(text);
    if (value !== undefined) return cut(JSON.stringify(maskFields(value), null, 2));
  }
  if (type.includes('urlencoded')) return cut(maskForm(new URLSearchParams(text)).join('\n'));
  return cut(maskText(text.slice(0, MAX_BODY + 1)));
}

/** The address of a hop, without its user and its fragment. */
export function maskHopUrl(url: string): string {
  const [address = ''] = url.split('#', 1);
  return maskAddress(withoutUser(address)).slice(0, 4000);
}

function maskForm(form: URLSearchParams): readonly string[] {
  return [...form].map(
    ([name, value]) => `${name}=${isLoginSecret(name) ? maskValue(value) : maskAddress(value)}`,
  );
}

function cut(text: string): string {
  return text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}…` : text;
}
