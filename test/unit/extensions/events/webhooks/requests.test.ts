import { McpError } from 'fullmcp';
import { describe, expect, test } from 'vitest';
import {
  readArguments,
  readDelivery,
  readName,
  readTimes,
  readUrl,
} from '../../../../../src/extensions/events/webhooks/requests.js';
import { readPrivateHosts } from '../../../../../src/oauth/fetch/private-hosts.js';
import { secretOf } from '../../../../support/events/receiver.js';

const parts = { dialect: 'sketch', privateHosts: readPrivateHosts() } as const;
const secret = secretOf(1);
const url = 'https://hooks.example/x?k=1';

function errorOf(run: () => unknown): { number: number; data: unknown; message: string } {
  try {
    run();
  } catch (error) {
    if (McpError.is(error)) {
      const { code, data, message } = error.toWire('2026-07-28');
      return { number: code, data, message };
    }
  }
  throw new Error('The request was accepted');
}

describe('the delivery of a subscription', () => {
  test('keeps the query of the address, which receivers route by', () => {
    expect(readDelivery({ delivery: { mode: 'webhook', url, secret } }, parts)).toEqual({ url, secret });
    expect(readDelivery({ delivery: { url, secret } }, parts).url).toBe(url);
  });

  test.each([
    'http://hooks.example/x',
    'ftp://hooks.example/x',
    'hooks.example',
    'https://',
    'https://ann:pw@hooks.example/',
    'https://hooks.example/#a',
    'https://hooks.example/#',
    'https://127.0.0.1/x',
    'https://127.1/x',
    'https://2130706433/x',
    'https://0x7f.1/x',
    'https://0177.0.0.1/x',
    'https://[::1]/x',
    'https://[::ffff:127.0.0.1]/x',
    'https://[::ffff:10.0.0.1]/x',
    'https://[64:ff9b::7f00:1]/x',
    'https://[fe80::1]/x',
    'https://10.0.0.1/x',
    'https://172.16.0.1/x',
    'https://192.168.1.1/x',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/x',
    'https://0.0.0.0/x',
    'https://localhost/x',
    'https://a.localhost./x',
    'https://intranet/x',
    'https://db.internal/x',
    'https://printer.local/x',
    `https://hooks.example/${'a'.repeat(9000)}`,
    42,
    undefined,
  ])('is refused with -32602 for the address %s', (address) => {
    const error = errorOf(() => readDelivery({ delivery: { url: address, secret } }, parts));
    expect(error.number).toBe(-32602);
    expect(error.message).not.toContain('hooks.example/x');
  });

  test.each([undefined, '', 'abc', 'whsec_', `whsec_${'A'.repeat(8)}`, `whsec_${btoa('x'.repeat(65))}`, 7])(
    'is refused with -32602 for the secret %s, which the error does not repeat',
    (wrong) => {
      const error = errorOf(() => readDelivery({ delivery: { url, secret: wrong } }, parts));
      expect(error.number).toBe(-32602);
      if (typeof wrong === 'string' && wrong.length > 8) expect(error.message).not.toContain(wrong);
    },
  );

  test.each([
    ['sketch', -32014],
    ['sep', -32026],
  ] as const)('is not supported in another mode (%s)', (dialect, number) => {
    const delivery = { mode: 'email', url, secret };
    expect(errorOf(() => readDelivery({ delivery }, { ...parts, dialect }))).toMatchObject({
      number,
      data: { feature: 'deliveryMode', value: 'email' },
    });
  });

  test('may go to an origin that the operator has named, even over http', () => {
    const privateHosts = readPrivateHosts(['http://127.0.0.1:8080']);
    const near = 'http://127.0.0.1:8080/hook';
    expect(readDelivery({ delivery: { url: near, secret } }, { ...parts, privateHosts }).url).toBe(near);
    const other = { delivery: { url: 'http://127.0.0.1:8081/hook', secret } };
    expect(errorOf(() => readDelivery(other, { ...parts, privateHosts })).number).toBe(-32602);
  });
});

test('the name and the arguments are checked, and arguments may be absent', () => {
  expect(errorOf(() => readName({})).number).toBe(-32602);
  expect(errorOf(() => readName({ name: '' })).number).toBe(-32602);
  expect(readArguments({})).toEqual({});
  expect(errorOf(() => readArguments({ arguments: [1] })).number).toBe(-32602);
  expect(errorOf(() => readUrl({}, 'sketch')).number).toBe(-32602);
});

test('no lifetime is rejected that is a number or null', () => {
  expect(readTimes({})).toEqual({ cursor: null, ttlMs: undefined, maxAgeMs: undefined });
  for (const ttlMs of [-1, 0, 1, 1000, 30 * 86_400_000, null]) expect(readTimes({ ttlMs }).ttlMs).toBe(ttlMs);
  expect(readTimes({ cursor: null, maxAgeMs: null })).toMatchObject({ cursor: null, maxAgeMs: undefined });
  for (const wrong of [{ ttlMs: 'x' }, { cursor: 7 }, { maxAgeMs: 'x' }])
    expect(errorOf(() => readTimes(wrong)).number).toBe(-32602);
});
