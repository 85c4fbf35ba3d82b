import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { kindOfAddress } from '../../../oauth/fetch/addresses.js';
import { type CheckedUrl, checkAddresses } from '../../../oauth/fetch/check-url.js';
import { isLoopbackName } from '../../../oauth/fetch/names.js';
import { SafeFetchError } from '../../../oauth/fetch/safe-fetch.js';

// From a host to the addresses that may be dialled. There is one lookup, and what it returns is what is dialled.

/** An address in the form that Node's `lookup` returns. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Resolves as other programs on this computer do: the hosts file, then DNS. */
export const resolveWithSystem: Resolve = async function resolveWithSystem(hostname) {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/** The addresses of a URL's host, all of them within the reach of the URL. */
export async function addressesOf(
  checked: CheckedUrl,
  resolve: Resolve,
): Promise<readonly ResolvedAddress[]> {
  const addresses = await find(checked.url.hostname, resolve);
  checkAddresses(checked, addresses);
  return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
}

async function find(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  if (kindOfAddress(hostname) !== undefined) return [hostname.replace(/^\[|\]$/g, '')];
  // RFC 6761: these names are never looked up. Some systems do not know the names under localhost.
  if (isLoopbackName(hostname)) return ['127.0.0.1', '::1'];
  try {
    return await resolve(hostname);
  } catch (error) {
    throw new SafeFetchError('name_not_found', `The host ${hostname} cannot be resolved${codeOf(error)}.`, {
      cause: error,
    });
  }
}

/** The code of one of Node's errors, for messages. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? ` (${code})` : '';
}
