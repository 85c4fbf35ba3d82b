import { BlockList, isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kindOfAddress } from '../../../../src/oauth/fetch/addresses.js';
import { isSameAddress } from '../../../../src/protocol/checks/ip-addresses.js';

// The first and the last address of every range that is not public, written by hand from the registries.
const ipv4Ranges = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.31.196.0', '192.31.196.255'],
  ['192.52.193.0', '192.52.193.255'],
  ['192.88.99.0', '192.88.99.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['192.175.48.0', '192.175.48.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '255.255.255.255'],
] as const;
const ipv6Ranges = [
  ['::', '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['64:ff9b::1:0:0', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

// Two lists, because Node compares IPv4 addresses with IPv6 rules through their mapped form.
const ipv4List = new BlockList();
for (const [first, last] of ipv4Ranges) ipv4List.addRange(first, last, 'ipv4');
const ipv6List = new BlockList();
for (const [first, last] of ipv6Ranges) ipv6List.addRange(first, last, 'ipv6');

const nearIPv4 = fc
  .tuple(fc.constantFrom(...ipv4Ranges.flat()), fc.integer({ min: -300, max: 300 }))
  .map(([edge, distance]) =>
    printIPv4(edge.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) + distance),
  );
const anyIPv4 = fc.oneof(nearIPv4, fc.ipV4());

test.each(ipv4Ranges.flat())('%s, at the edge of a range, is not public', (address) => {
  expect(kindOfAddress(address)).toBe(address.startsWith('127.') ? 'loopback' : 'private');
});

test.each(ipv6Ranges.flat())('%s, at the edge of a range, is not public', (address) => {
  expect(kindOfAddress(address)).toBe('private');
});

test.each([
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '8.8.8.8',
  '2001:200::',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2003::',
  '2606:4700:4700::1111',
  '2620:4f:7fff::1',
  '2620:4f:8001::',
  '3ffe::',
  '3fff:1000::',
  '2000::',
  '64:ff9b::8.8.8.8',
  '64:ff9b::808:808',
])('%s, next to a range or far from all of them, is public', (address) => {
  expect(kindOfAddress(address)).toBe('public');
});

test.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['[::1]', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['169.254.169.254', 'private'],
  ['fd00:ec2::254', 'private'],
  ['100.100.100.200', 'private'],
  ['::ffff:127.0.0.1', 'private'],
  ['::ffff:8.8.8.8', 'private'],
  ['[::ffff:a9fe:a9fe]', 'private'],
  ['::7f00:1', 'private'],
  ['::127.0.0.1', 'private'],
  ['64:ff9b::127.0.0.1', 'private'],
  ['64:ff9b::a9fe:a9fe', 'private'],
  ['64:ff9b:1::8.8.8.8', 'private'],
  ['2002:7f00:1::', 'private'],
  ['fe80::1%eth0', 'private'],
  ['fec0::1', 'private'],
  ['ff02::1', 'private'],
] as const)('%s is %s', (address, kind) => {
  expect(kindOfAddress(address)).toBe(kind);
});

test.each([
  '',
  '1',
  '1.2.3',
  '1.2.3.4.5',
  '256.0.0.1',
  '01.2.3.4',
  '0x7f.0.0.1',
  '1.2.3.4 ',
  '１.2.3.4',
  ':',
  ':::',
  '::1::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  'g::',
  '1.2.3.4::',
  '::1.2.3',
  'localhost',
  '[',
  '[]',
  ':1',
  '1:',
  '1:2:3:4:5:6:7:8::',
])('%j is not an address', (text) => {
  expect(kindOfAddress(text)).toBeUndefined();
});

test('every IPv4 address has the kind that the table of ranges gives it', () => {
  fc.assert(
    fc.property(anyIPv4, (address) => {
      expect(kindOfAddress(address) !== 'public').toBe(ipv4List.check(address, 'ipv4'));
      expect(kindOfAddress(address) === 'loopback').toBe(address.startsWith('127.'));
    }),
    { numRuns: 3000 },
  );
});

test('every IPv6 address has the kind that the table of ranges gives it, except NAT64 addresses, which have that of their IPv4 address', () => {
  const nearIPv6 = fc
    .tuple(
      fc.constantFrom(...ipv6Ranges.flat()),
      fc.integer({ min: 0, max: 7 }),
      fc.integer({ min: 0, max: 0xffff }),
    )
    .map(([edge, position, group]) => {
      const groups = expand(edge);
      groups[position] = group.toString(16);
      return groups.join(':');
    });
  fc.assert(
    fc.property(fc.oneof(nearIPv6, fc.ipV6()), (address) => {
      if (isNat64(address)) return;
      expect(kindOfAddress(address) !== 'public').toBe(ipv6List.check(address, 'ipv6'));
    }),
    { numRuns: 3000 },
  );
  fc.assert(
    fc.property(anyIPv4, (address) => {
      expect(kindOfAddress(`64:ff9b::${address}`) === 'public').toBe(kindOfAddress(address) === 'public');
    }),
  );
});

test('an address is recognized exactly when Node recognizes it', () => {
  const almost = fc.string({ unit: fc.constantFrom(...'0123456789abcf:.[]%gx'), maxLength: 24 });
  fc.assert(
    fc.property(fc.oneof(fc.ipV4Extended(), fc.ipV6(), almost), (text) => {
      const inner = /^\[.*\]$/.test(text) ? text.slice(1, -1) : text;
      // A zone and brackets are allowed here, and Node wants a zone not to be empty.
      if (text.includes('%')) return;
      expect(kindOfAddress(text) !== undefined).toBe(isIPv4(text) || isIPv6(inner));
    }),
    { numRuns: 5000 },
  );
});

test('an address is the same in its mapped form and in other spellings', () => {
  expect(isSameAddress('93.184.215.14', '::ffff:93.184.215.14')).toBe(true);
  expect(isSameAddress('2606:4700::1', '2606:4700:0:0::0:1')).toBe(true);
  expect(isSameAddress('93.184.215.14', '93.184.215.15')).toBe(false);
  expect(isSameAddress('nonsense', 'nonsense')).toBe(false);
});

function printIPv4(number: number): string {
  const address = (number + 2 ** 32) % 2 ** 32;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

function expand(address: string): string[] {
  const [front = '', back = ''] = address.split('::');
  const [left, right] = [front.split(':').filter(Boolean), back.split(':').filter(Boolean)];
  return [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

function isNat64(address: string): boolean {
  const list = new BlockList();
  list.addSubnet('64:ff9b::', 96, 'ipv6');
  return list.check(address, 'ipv6');
}
