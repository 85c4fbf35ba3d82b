// IP addresses as numbers. Own arithmetic, because `net.BlockList` exists only on Node, and a list that contains the IPv4-mapped range
// there matches every IPv4 address.

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

/**
 * An address as everybody writes it, so that equal ones are equal strings, without its port, brackets and zone; undefined for anything
 * else. An IPv4-mapped IPv6 address becomes the IPv4 address.
 */
export function plainAddress(text: string): string | undefined {
  const host = withoutPort(text);
  if (host === undefined) return undefined;
  if (parseIPv4(host) !== undefined) return host;
  const number = parseIPv6(withoutBrackets(host));
  if (number === undefined) return undefined;
  if (number >> 32n === MAPPED >> 32n)
    return [24n, 16n, 8n, 0n].map((bits) => String((number >> bits) & 0xffn)).join('.');
  return new URL(`http://[${withoutBrackets(host)}]`).hostname.slice(1, -1);
}

/**
 * The network that one subscriber of a provider has: of an IPv6 address its first 64 bits, since each subscriber has at least that
 * many addresses, and an IPv4 address as it is. Any other text is returned unchanged.
 */
export function subscriberNetwork(address: string): string {
  // An IPv4 address, as most are.
  if (!address.includes(':')) return address;
  const number = parseIPv6(withoutBrackets(address));
  if (number === undefined) return address;
  return number >> 32n === MAPPED >> 32n
    ? (plainAddress(address) as string)
    : `${(number >> 64n).toString(16)}/64`;
}

// A port is a number, or hidden (RFC 7239, 6). An IPv6 address has a port only after its brackets.
const PORT = /^:(?:\d{1,5}|_[\w.-]{1,32})$/;

function withoutPort(text: string): string | undefined {
  const end = text.startsWith('[') ? text.indexOf(']') + 1 : text.indexOf(':');
  const isWhole = end <= 0 || end === text.length || (!text.startsWith('[') && text.includes(':', end + 1));
  if (isWhole) return text;
  return PORT.test(text.slice(end)) ? text.slice(0, end) : undefined;
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

/** A range of addresses. */
export interface Range {
  readonly first: bigint;
  /** The number of bits after the prefix. */
  readonly rest: bigint;
}

/** The first of the IPv4 addresses in their form as IPv6 addresses, `::ffff:0:0/96`. */
const MAPPED = 0xffff_0000_0000n;

/** Whether a range has an address. */
export function isIn(address: bigint, { first, rest }: Range): boolean {
  return address >> rest === first >> rest;
}

/** A number that is unique among all addresses: IPv4 addresses have their mapped form. */
function numberOf(text: string): bigint | undefined {
  const ipv4 = parseIPv4(text);
  return ipv4 === undefined ? parseIPv6(withoutBrackets(text)) : MAPPED + ipv4;
}

/** Reads an IPv4 address in four decimal parts. */
export function parseIPv4(text: string): bigint | undefined {
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

/** Reads an IPv6 address, without brackets and zone. */
export function parseIPv6(text: string): bigint | undefined {
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

/** An address without the brackets of a URL, and without its zone. */
export function withoutBrackets(text: string): string {
  const inner = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  // The zone says through which interface an address is reached, and does not change its kind.
  const zone = inner.indexOf('%');
  return zone === -1 ? inner : inner.slice(0, zone);
}
