import { displayUrl } from '../../protocol/secrets/display-url.js';
import { type AddressKind, kindOfAddress } from './addresses.js';
import { isLoopbackName, isPrivateName } from './names.js';
import type { PrivateHosts } from './private-hosts.js';
import { SafeFetchError } from './safe-fetch.js';

// The checks of a URL before anything is sent, and of the addresses that its host resolves to.

/** The addresses that a host may have: public ones, this computer, or, for a host that the operator named, any. */
type Reach = 'public' | 'loopback' | 'any';

/** A URL that may be requested if its host has an address within its reach. */
export interface CheckedUrl {
  readonly url: URL;
  readonly reach: Reach;
}

/** The exceptions from "https and public addresses only". */
export interface UrlPolicy {
  readonly loopback: boolean;
  readonly privateHosts: PrivateHosts;
}

const MAX_URL_LENGTH = 8192;

/** Checks the form, the scheme and the host of a URL. `new URL` has converted every spelling of an IPv4 address by then. */
export function checkUrl(address: string | URL, policy: UrlPolicy): CheckedUrl {
  const url = parse(address);
  const reach = reachOf(url, policy);
  if (url.protocol === 'http:' && reach === 'public')
    throw new SafeFetchError(
      'bad_url',
      `${displayUrl(url)} uses http, which anyone on the way can read and change. Only https is allowed. If you trust the network, name the origin ${url.origin} in \`privateHosts\`.`,
    );
  const literal = kindOfAddress(url.hostname);
  if (literal !== undefined) checkAddress(url, literal, reach);
  else if (reach === 'public' && (isLoopbackName(url.hostname) || isPrivateName(url.hostname)))
    throw new SafeFetchError(
      'private_address',
      `${displayUrl(url)} is not requested, because ${url.hostname} is a name for this computer or a private network. ${advice}`,
    );
  return { url, reach };
}

/** Checks all addresses that a host resolves to: any of them may be dialled, so a single wrong one is enough to refuse. */
export function checkAddresses({ url, reach }: CheckedUrl, addresses: readonly string[]): void {
  if (addresses.length === 0)
    throw new SafeFetchError('name_not_found', `The host ${url.hostname} does not have an address.`);
  for (const address of addresses) checkAddress(url, kindOfAddress(address) ?? 'private', reach);
}

const advice =
  'If you trust this host, name it in `privateHosts`. A server on this computer may only be named by another server on this computer.';

/** The message does not contain the address: it would tell the peer what a name means inside this network. */
function checkAddress(url: URL, kind: AddressKind, reach: Reach): void {
  if (reach === 'any' || kind === reach) return;
  throw new SafeFetchError(
    'private_address',
    reach === 'loopback'
      ? `${displayUrl(url)} is not requested, because ${url.hostname} does not lead to this computer.`
      : `${displayUrl(url)} is not requested, because ${url.hostname} leads to this computer or a private network. ${advice}`,
  );
}

function reachOf(url: URL, { loopback, privateHosts }: UrlPolicy): Reach {
  if (privateHosts.has(url)) return 'any';
  return loopback && isLoopbackUrl(url) ? 'loopback' : 'public';
}

/** Whether a URL says by itself that it leads to this computer. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopbackName(hostname) || kindOfAddress(hostname) === 'loopback';
}

function parse(address: string | URL): URL {
  const text = String(address);
  const refuse = (why: string): SafeFetchError =>
    new SafeFetchError('bad_url', `${displayUrl(text)} is not requested, because it ${why}.`);
  if (text.length > MAX_URL_LENGTH) throw refuse(`has more than ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) throw refuse('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse(`does not begin with https://`);
  if (url.username !== '' || url.password !== '') throw refuse('contains a user name or a password');
  return url;
}
