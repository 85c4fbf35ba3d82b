import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainAddress } from '../../../../../src/protocol/checks/ip-addresses.js';
import { readTrustProxy } from '../../../../../src/transports/http/server/trusted-proxies.js';

type Option = Parameters<typeof readTrustProxy>[0];

function addressOf(option: Option, remoteAddress: string | undefined, headers: Record<string, string> = {}) {
  return readTrustProxy(option)?.({ remoteAddress, header: (name) => headers[name] });
}
const xff = (value: string) => ({ 'x-forwarded-for': value });
const forwarded = (value: string) => ({ forwarded: value });

describe('with a number of proxies', () => {
  it.each([
    [1, 'c', 'c'],
    [1, 'forged, c', 'c'],
    [2, 'c, p', 'c'],
    [2, 'forged, c, p', 'c'],
    [3, 'forged, c, p, q', 'c'],
    // The request has passed fewer proxies than were promised.
    [3, 'c', 'c'],
    [1, '', 'peer'],
  ] as const)('%i, and the header "%s": %s', (proxies, header, expected) => {
    const addresses = {
      c: '198.51.100.7',
      p: '10.0.0.1',
      q: '10.0.0.2',
      forged: '1.1.1.1',
      peer: '10.0.0.9',
    };
    const value = header.replace(/\w+/g, (name) => addresses[name as 'c']);
    expect(addressOf(proxies, addresses.peer, xff(value))).toBe(addresses[expected]);
  });

  it('the address of the connection need not be known', () => {
    expect(addressOf(1, undefined, xff('198.51.100.7'))).toBe('198.51.100.7');
    expect(addressOf(1, undefined)).toBeUndefined();
  });
});

describe('with the addresses of proxies', () => {
  const proxies = ['10.0.0.0/8', 'fd00::/8', '::1'];
  it.each([
    ['1.2.3.4', '9.9.9.9', '1.2.3.4'],
    [undefined, '9.9.9.9', undefined],
    ['10.0.0.1', '9.9.9.9', '9.9.9.9'],
    ['::ffff:10.0.0.1', '9.9.9.9', '9.9.9.9'],
    ['10.0.0.1', '1.1.1.1, 9.9.9.9', '9.9.9.9'],
    ['10.0.0.1', '1.1.1.1, 9.9.9.9, 10.1.1.1, fd00::2', '9.9.9.9'],
    ['10.0.0.1', '10.2.2.2, 10.3.3.3', '10.2.2.2'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['::1', '2001:DB8::0001', '2001:db8::1'],
    ['fd00::1%eth0', '[2001:db8::1]:4711', '2001:db8::1'],
  ])('from %s, "%s" is %s', (peer, header, expected) => {
    expect(addressOf(proxies, peer, xff(header))).toBe(expected);
  });

  it('a header from anybody else is ignored, whatever it is', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.string(), (peer, header) => {
        fc.pre(!peer.startsWith('10.'));
        expect(addressOf(proxies, peer, { ...xff(header), ...forwarded(header) })).toBe(peer);
      }),
    );
  });
});

describe('a node', () => {
  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['198.51.100.7:8080', '198.51.100.7'],
    ['198.51.100.7:_port', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%25eth0', 'fe80::1'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::ffff:c633:6407', '198.51.100.7'],
    ['::', '::'],
  ])('%s is %s', (node, address) => {
    expect(plainAddress(node)).toBe(address);
    expect(addressOf(1, '10.0.0.1', xff(` ${node} `))).toBe(address);
  });

  it.each([
    ['unknown'],
    ['_hidden'],
    ['_hidden:80'],
    [''],
    ['localhost'],
    ['198.51.100.256'],
    ['198.51.100.07'],
    ['198.51.100'],
    ['198.51.100.7:'],
    ['198.51.100.7:port'],
    ['198.51.100.7:123456'],
    ['[198.51.100.7]'],
    ['[2001:db8::1'],
    ['[2001:db8::1]x'],
    ['2001:db8::1::2'],
    ['0x7f.1'],
    ['"198.51.100.7"'],
    ['198.51.100.7\u0000'],
    ['1'.repeat(5000)],
  ])('that is not an address ends the search at the proxy before it: %s', (node) => {
    expect(plainAddress(node)).toBeUndefined();
    expect(addressOf(1, '10.0.0.1', xff(node === '' ? ',' : node))).toBe('10.0.0.1');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.1', xff(`9.9.9.9, ${node}, 10.0.0.2`))).toBe('10.0.0.2');
  });

  it('is found like by the runtime, if it is one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.option(fc.nat(65_535)), (address, port) => {
        const isIPv6 = address.includes(':');
        const node = port === null ? address : isIPv6 ? `[${address}]:${port}` : `${address}:${port}`;
        const found = plainAddress(node);
        const { hostname } = new URL(`http://${isIPv6 ? `[${address}]` : address}`);
        const isMapped = /^\[::ffff:[\da-f]+:[\da-f]+\]$/.test(hostname);
        if (!isMapped) expect(found).toBe(hostname.replace(/[[\]]/g, ''));
        else expect(found).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      }),
    );
  });
});

describe('the header Forwarded', () => {
  const option = { proxies: ['10.0.0.0/8'], header: 'Forwarded' };
  it.each([
    ['for=9.9.9.9', '9.9.9.9'],
    ['For="9.9.9.9:80";proto=https;by=10.0.0.1', '9.9.9.9'],
    ['proto=https ; FOR="[2001:db8::1]:4711"', '2001:db8::1'],
    ['for=1.1.1.1, for=9.9.9.9;host="a,b;for=2.2.2.2", for=10.0.0.2', '9.9.9.9'],
    ['for=1.1.1.1,for=unknown', '10.0.0.1'],
    ['for=1.1.1.1, for=_hidden', '10.0.0.1'],
    ['for=1.1.1.1, proto=https', '10.0.0.1'],
    ['for=1.1.1.1;for=2.2.2.2', '10.0.0.1'],
    ['', '10.0.0.1'],
    ['for=', '10.0.0.1'],
  ])('%s: %s', (header, expected) => {
    expect(addressOf(option, '10.0.0.1', forwarded(header))).toBe(expected);
  });

  it('is not confused by quotes that the client began', () => {
    for (const begun of ['for="', 'for="1.1.1.1', 'for="1.1.1.1\\"', 'x="\\', 'for="";x="'])
      for (const added of ['for=9.9.9.9', 'for="[2001:db8::1]"', 'for="9.9.9.9:1", for="[fd00::1]"'])
        expect(['9.9.9.9', '2001:db8::1', '10.0.0.1']).toContain(
          addressOf(option, '10.0.0.1', forwarded(`${begun}, ${added}`)),
        );
  });

  it('is ignored unless it is the header that the proxies write, and so is any other', () => {
    const headers = { ...xff('9.9.9.9'), ...forwarded('for=1.1.1.1'), 'x-real-ip': '2.2.2.2' };
    expect(addressOf(1, '10.0.0.1', headers)).toBe('9.9.9.9');
    expect(addressOf(option, '10.0.0.1', headers)).toBe('1.1.1.1');
    expect(addressOf({ proxies: 1, header: 'X-Real-IP' }, '10.0.0.1', headers)).toBe('2.2.2.2');
    expect(addressOf(1, '10.0.0.1', { forwarded: 'for=1.1.1.1' })).toBe('10.0.0.1');
  });
});

describe('a huge header', () => {
  it('costs little, and its end counts', () => {
    expect(addressOf(1, '10.0.0.1', xff(`${'1.1.1.1,'.repeat(1_000_000)}9.9.9.9`))).toBe('9.9.9.9');
    expect(addressOf(['10.0.0.0/8'], '10.0.0.1', xff(`1.1.1.1${', 10.0.0.2'.repeat(1_000_000)}`))).toBe(
      '10.0.0.2',
    );
    expect(addressOf(1, '10.0.0.1', xff(','.repeat(1_000_000)))).toBe('10.0.0.1');
    const huge = { proxies: 1, header: 'forwarded' };
    expect(addressOf(huge, '10.0.0.1', forwarded('for=1.1.1.1,'.repeat(100_000)))).toBe('10.0.0.1');
  });

  it('or any other never breaks the search', () => {
    const anything = fc.string({
      unit: fc.constantFrom(',', '"', '\\', ';', '=', ' ', '1', '.', ':', '[', ']', 'for=', 'a'),
    });
    fc.assert(
      fc.property(anything, (header) => {
        for (const option of [1, 3, ['10.0.0.0/8'], { proxies: 2, header: 'forwarded' }] as const)
          expect(
            plainAddress(addressOf(option, '10.0.0.1', { ...xff(header), ...forwarded(header) }) ?? ''),
          ).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a mistake in trustProxy', () => {
  it.each([[true], [0], [-1], [1.5], [33], ['1'], [[]], [null], [{}], [{ proxies: true }]])(
    'is reported: %j',
    (option) => {
      expect(() => readTrustProxy(option as never)).toThrow(/trustProxy must be the number of proxies/);
    },
  );

  it('names the entry or the header that is wrong', () => {
    expect(() => readTrustProxy(['10.0.0.0/33'])).toThrow(/"10.0.0.0\/33" is not an IP address/);
    expect(() => readTrustProxy(['proxy.example.com'])).toThrow(/is not an IP address/);
    expect(() => readTrustProxy({ proxies: 1, header: 'a b' })).toThrow(
      /"header" must be the name of a header/,
    );
    expect(() => readTrustProxy({ proxies: 1, headers: 'x' } as never)).toThrow(/Did you mean "header"/);
    expect(readTrustProxy(false)).toBeUndefined();
  });
});
