import { describe, expect, test } from 'vitest';
import {
  makeSecret,
  readSecret,
  signWebhook,
  verifyWebhook,
  type WebhookKey,
  webhookKey,
} from '../../../../src/protocol/events/signature.js';

const secrets = {
  rising: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  falling: 'whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA=',
};
const event =
  '{"eventId":"evt_789","name":"ticket.changed","timestamp":"2026-10-26T07:33:19Z","data":{"id":"T-7","status":"open"},"cursor":"c2"}';
const message = { id: 'evt_789', timestamp: 1_793_000_000, body: new TextEncoder().encode(event) };
const signatures = {
  rising: 'v1,2iEhrrLFRTKg7mQXRSZgDCcoBNdmDAs6ScVpOQE7OXY=',
  falling: 'v1,6dKao8iHDsF8deFMjdD0UtKgX6kiwq1bYg7OLz+1isE=',
};

async function keyOf(secret: string): Promise<WebhookKey> {
  const bytes = readSecret(secret);
  if (bytes === undefined) throw new Error(`${secret} is not a secret`);
  return webhookKey(bytes);
}

describe('the signature of a webhook', () => {
  test('is the one that the Standard Webhooks specification defines', async () => {
    expect(await signWebhook(message, [await keyOf(secrets.rising)])).toBe(signatures.rising);
  });

  test('has a part for each secret while one is being replaced', async () => {
    const keys = [await keyOf(secrets.rising), await keyOf(secrets.falling)];
    expect(await signWebhook(message, keys)).toBe(`${signatures.rising} ${signatures.falling}`);
  });

  test.each([
    ['alone', signatures.rising],
    ['behind one of another secret', `${signatures.falling} ${signatures.rising}`],
    ['behind one of another version', `v1a,AAAA ${signatures.rising}`],
    ['behind one that cannot be read', `v1,%%% ${signatures.rising}`],
  ])('is accepted %s', async (_where, header) => {
    expect(await verifyWebhook(message, header, [await keyOf(secrets.rising)])).toBe(true);
  });

  test.each([
    ['of another secret', signatures.falling, {}],
    ['that is empty', '', {}],
    ['without its version', signatures.rising.slice(3), {}],
    ['of another version', `v1a,${signatures.rising.slice(3)}`, {}],
    ['of another id', signatures.rising, { id: 'evt_790' }],
    ['of another time', signatures.rising, { timestamp: message.timestamp + 1 }],
    ['of another body', signatures.rising, { body: message.body.slice(1) }],
    ['behind more signatures than are looked at', `${'v1,AAAA '.repeat(16)}${signatures.rising}`, {}],
  ])('%s is refused', async (_what, header, changes) => {
    expect(await verifyWebhook({ ...message, ...changes }, header, [await keyOf(secrets.rising)])).toBe(
      false,
    );
  });
});

describe('a secret of a webhook', () => {
  test('that was made can be read, and is another one each time', () => {
    const made = makeSecret();
    expect(readSecret(made)).toHaveLength(32);
    expect(makeSecret()).not.toBe(made);
  });

  test.each([
    ['has no prefix', 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='],
    ['has 23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['has 65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['is not base64', `whsec_${'!'.repeat(44)}`],
    ['is not a string', 5],
    ['is missing', undefined],
  ])('that %s is refused', (_why, secret) => {
    expect(readSecret(secret)).toBeUndefined();
  });

  test.each([24, 64])('may have %i bytes', (length) => {
    expect(readSecret(`whsec_${Buffer.alloc(length).toString('base64')}`)).toHaveLength(length);
  });
});
