// Finds the address of a client behind trusted proxies.

import { isObject } from '../../../jsonrpc/message.js';
import { addressMatcher, plainAddress } from '../../../protocol/checks/ip-addresses.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';

/** The proxies in front of a server, and the header that they write. */
export interface TrustProxyOptions {
  /** The number of the proxies that a request passes, or their IP addresses and ranges of them, such as `10.0.0.0/8`. */
  readonly proxies: number | readonly string[];
  /**
   * The header to which each proxy adds the address of its client. `forwarded` is read as RFC 7239 says, and any other header as an
   * array of addresses with commas. The proxies must write this header: they pass on all others as the client sent them. Default:
   * `x-forwarded-for`.
   */
  readonly header?: string | undefined;
}

const optionTable = {
  proxies: 'any',
  header: { is: 'string', default: 'x-forwarded-for' },
} as const satisfies OptionTable<TrustProxyOptions>;

/** The parts of a request that tell where it comes from. */
interface ForwardedRequest {
  readonly remoteAddress: string | undefined;
  header(name: string): string | undefined;
}

/** Finds the address of the client that sent a request. */
export type ClientAddress = (request: ForwardedRequest) => string | undefined;

const MAX_PROXIES = 32;
/** A longer header is read from its end. */
const MAX_LENGTH = 8192;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Reads the option `trustProxy`. Undefined if no proxy is trusted. Throws an error that describes a mistake. */
export function readTrustProxy(
  option: false | number | readonly string[] | TrustProxyOptions | undefined,
): ClientAddress | undefined {
  if (option === undefined || option === false) return undefined;
  const isOptions = isObject(option);
  const given = (isOptions ? option : { proxies: option }) as TrustProxyOptions;
  const { proxies, header } = readOptions('trustProxy', given, optionTable);
  const name = NAME.test(header) ? header.toLowerCase() : undefined;
  if (name === undefined) throw new TypeError('trustProxy: "header" must be the name of a header.');
  const isProxy = readProxies(proxies);
  const nodesOf = name === 'forwarded' ? forwardedNodes : listedNodes;

  return function clientAddress(request) {
    const { remoteAddress } = request;
    let address = remoteAddress && (plainAddress(remoteAddress) ?? remoteAddress);
    if (!isProxy(address, 0)) return address;
    let hop = 0;
    // The nearest first. Each is true if the one before it, which wrote it, is a proxy of ours.
    for (const node of nodesOf(request.header(name) ?? '')) {
      const next = plainAddress(node);
      // It is hidden, or not an address. Nobody knows the hops behind it, so the proxy counts as the client.
      if (next === undefined) return address;
      address = next;
      if (!isProxy(address, ++hop) || hop === MAX_PROXIES) return address;
    }
    return address;
  };
}

/** Tells whether an address, after this number of hops from the server, is that of a proxy. */
function readProxies(
  proxies: number | readonly string[],
): (address: string | undefined, hop: number) => boolean {
  if (typeof proxies === 'number' && Number.isInteger(proxies) && proxies > 0 && proxies <= MAX_PROXIES)
    return (_, hop) => hop < proxies;
  if (!Array.isArray(proxies) || proxies.length === 0)
    throw new TypeError(
      `trustProxy must be the number of proxies (1 to ${MAX_PROXIES}), or an array of their IP addresses: ["10.0.0.0/8"].`,
    );
  const isListed = addressMatcher(proxies);
  return (address) => address !== undefined && isListed(address);
}

/** The nodes of a list with commas, the last first. */
function* listedNodes(header: string): Iterable<string> {
  const value = header.slice(-MAX_LENGTH);
  for (let end = value.length; end > 0; ) {
    const comma = value.lastIndexOf(',', end - 1);
    yield value.slice(comma + 1, end).trim();
    end = comma;
  }
}

// RFC 7239, 4. If the client has sent quotes that do not end, the rest of the header is not what the proxies wrote.
/** The nodes of the header `Forwarded`, the last first. */
function forwardedNodes(header: string): readonly string[] {
  if (header.length > MAX_LENGTH || header === '') return [];
  const elements = splitOutsideQuotes(header, ',');
  return (elements ?? []).reverse().map((element) => {
    const pairs = (splitOutsideQuotes(element, ';') ?? []).map((pair) => pair.trim());
    const nodes = pairs
      .filter((pair) => pair.slice(0, 4).toLowerCase() === 'for=')
      .map((pair) => pair.slice(4));
    const [node = ''] = nodes;
    return nodes.length === 1 ? node.replaceAll('"', '') : '';
  });
}

/** Splits a string at a separator that is not in quotes; undefined if the quotes do not end. */
function splitOutsideQuotes(text: string, separator: string): string[] | undefined {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\\' && isQuoted) at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return isQuoted ? undefined : [...parts, text.slice(start)];
}
