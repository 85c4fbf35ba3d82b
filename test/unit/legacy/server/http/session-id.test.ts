import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Handshake } from '../../../../../src/legacy/server/handshake.js';
import { sessionIds } from '../../../../../src/legacy/server/http/session-id.js';
import { checkSecret } from '../../../../../src/protocol/checks/secret.js';
import { sessionRevisions } from '../../../../../src/protocol/tables/features.js';

const secret = 'a secret of more than thirty-two characters';
const hour = 3_600_000;
const ids = sessionIds({ secrets: [secret], maxAgeMs: hour });
const plain: Handshake = {
  revision: '2025-11-25',
  client: { name: 'test', version: '1' },
  capabilities: { elicitation: { form: {} } },
};

afterEach(() => {
  vi.useRealTimers();
});

describe('a session id', () => {
  test('carries the handshake to any process with the same secret', async () => {
    const id = await ids.issue(plain);
    const elsewhere = sessionIds({ secrets: [secret], maxAgeMs: hour });
    expect((await elsewhere.read(id))?.handshake).toEqual(plain);
  });

  test('is issued to a client whose name is not a string, without the name', async () => {
    for (const name of [{ toString: 1 }, null, 5, ['a']]) {
      const client = { name, version: name } as unknown as Handshake['client'];
      expect((await ids.read(await ids.issue({ ...plain, client })))?.handshake.client).toBeUndefined();
    }
  });

  test('is visible ASCII only, and never the same twice', async () => {
    const issued = await Promise.all(Array.from({ length: 100 }, () => ids.issue(plain)));
    expect(new Set(issued).size).toBe(100);
    for (const id of issued) expect(id).toMatch(/^[\x21-\x7e]+$/);
  });

  test('carries the revision and the capabilities of any client in at most 4,096 characters', async () => {
    const handshakes = fc.record({
      revision: fc.constantFrom(...sessionRevisions),
      client: fc.option(
        fc.record({
          name: fc.string({ unit: 'binary', maxLength: 300 }),
          version: fc.string({ unit: 'binary', maxLength: 300 }),
        }),
        { nil: undefined },
      ),
      capabilities: fc.record(
        {
          sampling: fc.record({ context: fc.constant({}), tools: fc.constant({}) }, { requiredKeys: [] }),
          elicitation: fc.record({ form: fc.constant({}), url: fc.constant({}) }, { requiredKeys: [] }),
          roots: fc.constant({ listChanged: true }),
          extensions: fc.dictionary(fc.string({ unit: 'binary', maxLength: 200 }), fc.constant({}), {
            maxKeys: 20,
          }),
          experimental: fc.dictionary(fc.string({ maxLength: 50 }), fc.constant({})),
        },
        { requiredKeys: [] },
      ),
    });
    await fc.assert(
      fc.asyncProperty(handshakes, async (handshake) => {
        const id = await ids.issue(handshake as Handshake);
        const read = (await ids.read(id))?.handshake;
        expect(read?.revision).toBe(handshake.revision);
        expect(read?.capabilities.sampling).toEqual(handshake.capabilities.sampling);
        expect(read?.capabilities.elicitation).toEqual(handshake.capabilities.elicitation);
        expect(read?.capabilities.roots === undefined).toBe(handshake.capabilities.roots === undefined);
        expect(id.length).toBeLessThanOrEqual(4096);
      }),
      { numRuns: 300 },
    );
  });

  test("can always be read by its issuer, however long the client's description is", async () => {
    const worst = '\u0001'.repeat(1000);
    const names = (letter: string): Record<string, object> =>
      Object.fromEntries(
        Array.from({ length: 20 }, (_, at) => [`${at}${letter.repeat(98 - `${at}`.length)}`, {}]),
      );
    for (const letter of ['"', '\u0001', '漢', 'x']) {
      const id = await ids.issue({
        revision: '2025-11-25',
        client: { name: worst, version: worst },
        capabilities: { sampling: { tools: {} }, extensions: names(letter) as Record<string, never> },
      });
      expect((await ids.read(id))?.handshake.capabilities.sampling, letter).toEqual({ tools: {} });
    }
  });

  test('keeps the names of extensions', async () => {
    const extensions = { 'io.modelcontextprotocol/tasks': { list: {} }, 'com.example/ui': {} };
    const id = await ids.issue({ ...plain, capabilities: { extensions } });
    expect(Object.keys((await ids.read(id))?.handshake.capabilities.extensions ?? {})).toEqual(
      Object.keys(extensions),
    );
  });
});

describe('a session id is rejected', () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ';

  test('with any single character changed', async () => {
    const id = await ids.issue(plain);
    for (let at = 0; at < id.length; at++) {
      for (const other of alphabet) {
        if (other === id[at]) continue;
        // Every character at the end, where bits are left over; a few elsewhere.
        if (at < id.length - 2 && (at * 7 + other.charCodeAt(0)) % 11 !== 0) continue;
        const changed = id.slice(0, at) + other + id.slice(at + 1);
        expect(await ids.read(changed), `${at}: ${other}`).toBeUndefined();
      }
    }
  });

  test('if it is cut off anywhere, or has anything added', async () => {
    const id = await ids.issue(plain);
    await fc.assert(
      fc.asyncProperty(fc.nat(id.length - 1), fc.string({ minLength: 1 }), async (end, more) => {
        expect(await ids.read(id.slice(0, end))).toBeUndefined();
        expect(await ids.read(id.slice(end + 1))).toBeUndefined();
        expect(await ids.read(id + more)).toBeUndefined();
        expect(await ids.read(more + id)).toBeUndefined();
      }),
    );
  });

  test('if it was issued with another secret', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 32 }), async (other) => {
        fc.pre(other !== secret);
        expect(
          await ids.read(await sessionIds({ secrets: [other], maxAgeMs: hour }).issue(plain)),
        ).toBeUndefined();
      }),
    );
  });

  test('if it was issued by another process without a secret', async () => {
    const one = sessionIds({ secrets: undefined, maxAgeMs: hour });
    const two = sessionIds({ secrets: undefined, maxAgeMs: hour });
    const id = await one.issue(plain);
    expect(await one.read(id)).toBeDefined();
    expect(await two.read(id)).toBeUndefined();
  });

  test('if it is made up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await ids.read(text)).toBeUndefined();
        expect(await ids.read(`${text}.${text}`)).toBeUndefined();
      }),
    );
    expect(await ids.read(`${'a'.repeat(1_000_000)}.b`)).toBeUndefined();
  });

  test('once it is too old, to the millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
    const id = await ids.issue(plain);
    vi.setSystemTime(1_000_000 + hour - 1);
    expect((await ids.read(id))?.expiresAt).toBe(1_000_000 + hour);
    vi.setSystemTime(1_000_000 + hour);
    expect(await ids.read(id)).toBeUndefined();
  });
});

test('a short secret is an error that names the remedy', () => {
  expect(() => checkSecret('x'.repeat(31))).toThrow(/32 characters.*openssl/);
  expect(() => checkSecret('x'.repeat(32))).not.toThrow();
});
