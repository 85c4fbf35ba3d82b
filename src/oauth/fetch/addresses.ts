// Tells public addresses from all others. Own arithmetic, because `net.BlockList` exists only on Node, and a list that contains the
// IPv4-mapped range there matches every IPv4 address.

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

/** Whether two addresses are the same, even if one of them is written as an IPv4-mapped IPv6 address, as sockets do. */
export function isSameAddress(a: string, b: string): boolean {
  const number = numberOf(a);
  return number !== undefined && number === numberOf(b);
}

/**
 * Makes a function that tells whether an address is one of these, or in one of these ranges (`10.0.0.0/8`). IPv4 addresses are also
 * found in their IPv4-mapped form. Throws a TypeError that names an entry that is neither.
 */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map(mappedRange);
  return function isListed(address) {
    const number = numberOf(address);
    return number !== undefined && ranges.some((range) => isIn(number, range));
  };
}

function mappedRange(entry: string): Range {
  const [base = '', prefix, ...more] = typeof entry === 'string' ? entry.split('/', 3) : [];
  const first = numberOf(base);
  const isIPv4 = parseIPv4(base) !== undefined;
  const bits = isIPv4 ? 32 : 128;
  const length = prefix === undefined ? bits : /^[1-9]\d{0,2}$/.test(prefix) ? Number(prefix) : 0;
  if (first === undefined || more.length > 0 || length < 1 || length > bits)
    throw new TypeError(
      `${JSON.stringify(entry)} is not an IP address or a range of them, such as "10.0.0.0/8" or "fd00::/8".`,
    );
  return { first, rest: BigInt(bits - length) };
}

interface Range {
  readonly first: bigint;
  /** The number of bits after the prefix. */
  readonly rest: bigint;
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
const mapped = rangeOf('::ffff:0:0/96');
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

function isIn(address: bigint, { first, rest }: Range): boolean {
  return address >> rest === first >> rest;
}

function rangeOf(text: string): Range {
  const [base = '', prefix] = text.split('/');
  const ipv4 = parseIPv4(base);
  const first = ipv4 ?? parseIPv6(base);
  if (first === undefined) throw new TypeError(`${text} is not a range of addresses.`);
  return { first, rest: BigInt((ipv4 === undefined ? 128 : 32) - Number(prefix)) };
}

/** A number that is unique among all addresses: IPv4 addresses have their mapped form. */
function numberOf(text: string): bigint | undefined {
  const ipv4 = parseIPv4(text);
  return ipv4 === undefined ? parseIPv6(withoutBrackets(text)) : mapped.first + ipv4;
}

function parseIPv4(text: string): bigint | undefined {
  const parts = text.split('.', 5);
  if (parts.length !== 4 || text.length > 15) return undefined;
  let address = 0n;
  for (const part of parts) {
    // A leading zero means octal to some parsers and nothing to others.
    if (!/^(?:0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined;
    address = (address << 8n) + BigInt(part);
  }
  return address;
}

function parseIPv6(text: string): bigint | undefined {
  if (text.length > 45) return undefined;
  const halves = text.split('::', 3);
  if (halves.length > 2) return undefined;
  const [front, back] = halves.map((half, i) =>
    half === '' ? [] : groupsOf(half.split(':'), { isEnd: i === halves.length - 1 }),
  );
  if (front === undefined || (halves.length === 2 && back === undefined)) return undefined;
  const missing = 8 - front.length - (back?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...front, ...new Array<bigint>(missing).fill(0n), ...(back ?? [])];
  return groups.reduce((address, group) => (address << 16n) + group, 0n);
}

/** The groups of 16 bits; the last part of an address may be an IPv4 address, which is two of them. */
function groupsOf(parts: readonly string[], { isEnd }: { readonly isEnd: boolean }): bigint[] | undefined {
  const groups: bigint[] = [];
  for (const [i, part] of parts.entries()) {
    if (/^[\da-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else {
      const ipv4 = isEnd && i === parts.length - 1 ? parseIPv4(part) : undefined;
      if (ipv4 === undefined) return undefined;
      groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
    }
  }
  return groups;
}

function withoutBrackets(text: string): string {
  const inner = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  // The zone says through which interface an address is reached, and does not change its kind.
  const zone = inner.indexOf('%');
  return zone === -1 ? inner : inner.slice(0, zone);
}
