// The address of the API: from the option `baseUrl`, or from the `servers` of the document, which are trusted less.

import { isObject } from '../../jsonrpc/message.js';
import { checkUrl } from '../../oauth/fetch/check-url.js';
import { readPrivateHosts } from '../../oauth/fetch/private-hosts.js';
import { SafeFetchError } from '../../oauth/fetch/safe-fetch.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { OpenAPIError } from '../document/openapi-error.js';
import { listOf, nameOf, type ReadOperation } from '../document/operations.js';

/** The options that say where the API is. */
export interface ServerChoice {
  readonly baseUrl?: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
}

const advice = 'Pass the address of the API as "baseUrl".';

/** Reads the option `baseUrl`. */
export function readBaseUrl(baseUrl: unknown): URL {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username !== '')
    throw new OpenAPIError(
      '"baseUrl" must be an http or https URL without a query, a fragment and a user name, such as "https://api.example.com/v1".',
    );
  return url;
}

/** The address that the paths of an operation are appended to. It does not end with a slash. */
export function baseOf(operation: ReadOperation, { baseUrl, variables }: ServerChoice): string {
  if (baseUrl !== undefined) return withoutSlash(readBaseUrl(baseUrl).href);
  const where = nameOf(operation.method, operation.path);
  const [server] = listOf(operation.servers);
  const written =
    isObject(server) && typeof server['url'] === 'string' ? fill(server, variables, where) : '/';
  const url = absolute(written, operation.self);
  if (!URL.canParse(url))
    throw new OpenAPIError(
      `The document does not say where ${where} is: its server is ${quote(url, 100)}. ${advice}`,
    );
  try {
    // A document may name any address, so that only public ones are used.
    const checked = checkUrl(url, { loopback: false, privateHosts: readPrivateHosts() }).url;
    return withoutSlash(readBaseUrl(checked.href).href);
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error;
    throw new OpenAPIError(
      `The server of ${where} in the document is ${quote(url, 100)}, which is not requested because the document says so: only public addresses and https are. ${advice}`,
      { cause: error },
    );
  }
}

/** OpenAPI 3.2: a server may be relative to the address that the document gives itself. */
function absolute(url: string, self: unknown): string {
  return typeof self === 'string' && URL.canParse(self) && URL.canParse(url, self)
    ? new URL(url, self).href
    : url;
}

function fill(
  server: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, string>>,
  where: string,
): string {
  const variables = isObject(server['variables']) ? server['variables'] : {};
  return String(server['url']).replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) && isObject(variables[name]) ? variables[name] : {};
    const value = Object.hasOwn(values, name) ? values[name] : variable['default'];
    if (typeof value !== 'string')
      throw new OpenAPIError(
        `The server of ${where} has the variable "${name}" without a value. Pass it in "variables".`,
      );
    const allowed = listOf(variable['enum']);
    if (allowed.length > 0 && !allowed.includes(value))
      throw new OpenAPIError(
        `The server variable "${name}" must be one of ${allowed.join(', ')}, not ${quote(value, 60)}.`,
      );
    return value;
  });
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}
