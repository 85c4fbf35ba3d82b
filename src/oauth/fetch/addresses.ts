// Tells public addresses from all others.

import {
  isIn,
  parseIPv4,
  parseIPv6,
  type Range,
  withoutBrackets,
} from '../../protocol/checks/ip-addresses.js';

/**
 * The kind of an address. `loopback` is this computer. `private` is everything else that is not public: private and shared
 * networks, link-local addresses with the metadata services of clouds, multicast, documentation and reserved ranges.
 */
export type AddressKind = 'public' | 'loopback' | 'private';

/**
 * The kind of an IPv4 address in four decimal parts or of an IPv6 address, with or without brackets and zone; undefined for
 * anything else. Other spellings of IPv4 (`0x7f.1`, `2130706433`) are for `new URL` to convert first.
 */
export function kindOfAddress(text: string): AddressKind | undefined {
  const ipv4 = parseIPv4(text);
  if (ipv4 !== undefined) return kindOfIPv4(ipv4);
  const ipv6 = parseIPv6(withoutBrackets(text));
  return ipv6 === undefined ? undefined : kindOfIPv6(ipv6);
}

// IANA special-purpose registries, with multicast, the reserved range, and the AS112 and AMT blocks.
const notPublicIPv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(rangeOf);
const loopbackIPv4 = rangeOf('127.0.0.0/8');

// Only 2000::/3 is assigned. That leaves out loopback, mapped and compatible addresses, unique local, link-local and multicast.
const assignedIPv6 = rangeOf('2000::/3');
const notPublicIPv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(
  rangeOf,
);
const LOOPBACK_IPV6 = 1n;
/** Names resolve to these addresses on networks that have only IPv6. The last 32 bits are the IPv4 address. */
const nat64 = rangeOf('64:ff9b::/96');
const LAST_32_BITS = 0xffff_ffffn;

function kindOfIPv4(address: bigint): AddressKind {
  if (isIn(address, loopbackIPv4)) return 'loopback';
  return notPublicIPv4.some((range) => isIn(address, range)) ? 'private' : 'public';
}

function kindOfIPv6(address: bigint): AddressKind {
  if (address === LOOPBACK_IPV6) return 'loopback';
  if (isIn(address, nat64)) return kindOfIPv4(address & LAST_32_BITS) === 'public' ? 'public' : 'private';
  if (!isIn(address, assignedIPv6)) return 'private';
  return notPublicIPv6.some((range) => isIn(address, range)) ? 'private' : 'public';
}

function rangeOf(text: string): Range {
  const [base = '', prefix] = text.split('/');
  const ipv4 = parseIPv4(base);
  const first = ipv4 ?? parseIPv6(base);
  if (first === undefined) throw new TypeError(`${text} is not a range of addresses.`);
  return { first, rest: BigInt((ipv4 === undefined ? 128 : 32) - Number(prefix)) };
}
