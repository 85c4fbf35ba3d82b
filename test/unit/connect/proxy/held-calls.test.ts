import type { Call } from 'fullmcp';
import { buildCall } from 'fullmcp/testing';
import { expect, onTestFinished, test } from 'vitest';
import type { ForwardedCall } from '../../../../src/connect/proxy/forwarded-call.js';
import { HeldCalls } from '../../../../src/connect/proxy/held-calls.js';

/** A call that has been asked about. */
const asked = () => ({ next: async () => undefined, requests: {}, end() {} }) as unknown as ForwardedCall;

const callOf = (subject: string): Call =>
  buildCall('tools/call', { name: 'ask' }, { auth: { subject, scopes: [], claims: {} } });

test('one caller cannot have all the calls that wait for answers, and every other one finds a place', async () => {
  const held = new HeldCalls(60_000);
  onTestFinished(() => held.close());
  for (let n = 0; n < 500; n++) await held.next(asked(), callOf('mallory'));
  await expect(held.next(asked(), callOf('mallory'))).rejects.toThrow(
    '500 calls of the caller wait for answers, and no more are kept open. Answer them first.',
  );
  for (let n = 0; n < 100; n++) await held.next(asked(), callOf(`caller ${n}`));
  expect(held.size).toBe(600);
});

test('callers without a name share a place by their network, because one of them has many addresses of IPv6', async () => {
  const held = new HeldCalls(60_000);
  onTestFinished(() => held.close());
  const from = (remoteAddress: string): Call => ({
    ...buildCall('tools/call', { name: 'ask' }),
    ...{ isLocal: false, via: { transport: 'http' } },
    http: { header: () => undefined, remoteAddress, version: '1.1', mirrored: undefined },
  });
  for (let n = 0; n < 500; n++) await held.next(asked(), from(`2001:db8::${n.toString(16)}`));
  await expect(held.next(asked(), from('2001:db8::ffff'))).rejects.toThrow('no more are kept open');
  await held.next(asked(), from('2001:db8:0:1::1'));
  expect(held.size).toBe(501);
});

test('callers of a proxy in the same program have places of their own, by the tags that the proxy gives them', async () => {
  const held = new HeldCalls(60_000);
  onTestFinished(() => held.close());
  const tagged = (tag: string): Call =>
    buildCall('tools/call', { name: 'ask', _meta: { 'fullmcp/caller': tag } });
  for (let n = 0; n < 500; n++) await held.next(asked(), tagged('one'));
  await expect(held.next(asked(), tagged('one'))).rejects.toThrow('no more are kept open');
  await held.next(asked(), tagged('two'));
  // The program itself shares with nobody.
  for (let n = 0; n < 499; n++) await held.next(asked(), buildCall('tools/call', { name: 'ask' }));
  expect(held.size).toBe(1000);
});
