import { encodeBase64 } from '../../../protocol/encoding/base64.js';
import { tryDecode } from '../../../protocol/encoding/percent-decoding.js';
import { quote } from '../../../protocol/encoding/shorten.js';
import { McpError } from '../../../protocol/errors.js';
import type { HeaderValues, HttpLinkOptions } from './options.js';

export type HeaderRecord = Readonly<Record<string, string>>;

/**
 * Makes a function that returns the user's headers for a request. Options that are functions are called each time. An `auth` that
 * is an object is not asked here.
 */
export function userHeaders(
  url: URL,
  { headers, auth: option }: HttpLinkOptions,
): () => HeaderRecord | Promise<HeaderRecord> {
  const auth = typeof option === 'object' ? undefined : option;
  const isDynamic = typeof headers === 'function' || typeof auth === 'function';
  const basic = basicAuth(url);
  let cached: HeaderRecord | undefined;

  return function userHeaders() {
    return cached ?? build();
  };

  async function build(): Promise<HeaderRecord> {
    const own = new Headers();
    if (basic !== undefined) own.set('authorization', basic);
    for (const [name, value] of entries(await resolveOption('headers', headers))) setHeader(own, name, value);
    const token = await resolveOption('auth', auth);
    if (token === '') {
      throw new McpError('unauthorized', 'The option `auth` gave an empty token, so nothing was sent.');
    }
    if (token !== undefined)
      setHeader(own, 'authorization', /^bearer /i.test(token) ? token : `Bearer ${token}`);
    const record = Object.fromEntries([...own].filter(([name]) => !isReserved(name)));
    if (!isDynamic) cached = record;
    return record;
  }
}

/** The value of an option that may be a function. */
async function resolveOption<T>(
  option: string,
  value: T | (() => T | Promise<T>) | undefined,
): Promise<T | undefined> {
  if (typeof value !== 'function') return value;
  try {
    return await (value as () => T | Promise<T>)();
  } catch (error) {
    if (McpError.is(error)) throw error;
    throw new McpError('unauthorized', `The function given as \`${option}\` failed, so nothing was sent.`, {
      cause: error,
    });
  }
}

function entries(init: HeaderValues | undefined): Iterable<readonly [string, string]> {
  if (init === undefined) return [];
  if (init instanceof Headers) return init;
  return Array.isArray(init) ? (init as [string, string][]) : Object.entries(init as HeaderRecord);
}

// The runtime's own error contains the value, which may be a secret, so it is not even the cause.
export function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new McpError(
      'invalid_request',
      isName(name)
        ? `The value of the header "${name}" cannot be sent: it has a line break or a character outside Latin-1.`
        : `The option \`headers\` has ${quote(String(name), 64)}, which is not a header's name.`,
    );
  }
}

function isName(name: string): boolean {
  return /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/.test(name);
}

/** Whether only the protocol may set a header. */
export function isReserved(name: string): boolean {
  return name === 'content-type' || name === 'accept' || name.startsWith('mcp-');
}

/** The header for credentials in the URL: `fetch` rejects a URL that contains them. */
function basicAuth({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${encodeBase64(new TextEncoder().encode(`${tryDecode(username)}:${tryDecode(password)}`))}`;
}
