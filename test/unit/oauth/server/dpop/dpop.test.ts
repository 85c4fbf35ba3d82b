import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../../../../src/adapters/node/oauth/digest.js';
import { DpopKey } from '../../../../../src/oauth/client/hops/dpop-key.js';
import { createJwt, type JwtOptions } from '../../../../../src/oauth/server/tokens/jwt.js';
import type { TokenProvider } from '../../../../../src/oauth/server/tokens/token-provider.js';
import { McpError } from '../../../../../src/protocol/errors.js';
import { memoryStore } from '../../../../../src/state/memory/store.js';
import { authContext, requestWith, TokenIssuer } from '../../../../support/oauth/token-issuer.js';

const url = 'https://mcp.example/mcp';
const now = () => Math.floor(Date.now() / 1000);

interface ProofChanges {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
}

/** A client with a key of its own, and a token that is bound to it. */
class Client {
  readonly jwk: JWK;
  readonly jkt: string;
  readonly #privateKey: CryptoKey;
  readonly #alg: string;

  private constructor(key: { jwk: JWK; jkt: string; privateKey: CryptoKey; alg: string }) {
    this.jwk = key.jwk;
    this.jkt = key.jkt;
    this.#privateKey = key.privateKey;
    this.#alg = key.alg;
  }

  static async create(alg = 'ES256'): Promise<Client> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = await exportJWK(publicKey);
    return new Client({ jwk, jkt: await calculateJwkThumbprint(jwk), privateKey, alg });
  }

  async prove(token: string, { claims = {}, header = {} }: ProofChanges = {}): Promise<string> {
    const ath = nodeDigest(token);
    const all = { jti: crypto.randomUUID(), iat: now(), htm: 'POST', htu: url, ath, ...claims };
    const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    return await new SignJWT(payload)
      .setProtectedHeader({ typ: 'dpop+jwt', alg: this.#alg, jwk: this.jwk, ...header })
      .sign(this.#privateKey);
  }
}

async function setUp(options: Partial<JwtOptions> = {}, context = authContext()) {
  const issuer = await TokenIssuer.create();
  const provider = createJwt(issuer.runtime, {
    issuer: issuer.issuer,
    audience: url,
    dpop: 'supported',
    ...options,
  });
  await provider.start?.(context);
  const client = await Client.create();
  const token = await issuer.sign({ cnf: { jkt: client.jkt } });
  return { issuer, provider, client, token };
}

const send = async (provider: TokenProvider, token: string, proof?: string, scheme = 'DPoP') =>
  await provider.check(
    requestWith(token, { scheme, url, headers: proof === undefined ? {} : { dpop: proof } }),
  );

async function refusal(sent: Promise<unknown>): Promise<McpError> {
  const error = await sent.then(
    () => expect.fail('The request was accepted.'),
    (reason: unknown) => reason,
  );
  if (!McpError.is(error)) throw error;
  return error;
}

async function expectRefused(sent: Promise<unknown>, code: string, description: RegExp) {
  const { status, challenge } = await refusal(sent);
  expect([status, challenge?.scheme, challenge?.error]).toEqual([401, 'DPoP', code]);
  expect(challenge?.description).toMatch(description);
  expect(challenge?.algorithms).toContain('ES256');
}

describe('tokens that are bound to a key', () => {
  it('are accepted with a proof of the key, once for each proof', async () => {
    const { provider, client, token } = await setUp();
    const proof = await client.prove(token);
    expect(await send(provider, token, proof)).toMatchObject({ subject: 'ann' });
    await expectRefused(send(provider, token, proof), 'invalid_dpop_proof', /used before/);
    expect(await send(provider, token, await client.prove(token))).toMatchObject({ subject: 'ann' });
    expect(provider.schemes).toEqual(['Bearer', 'DPoP']);
    expect(provider.resource?.dpop).toBe('supported');
  });

  it.each(['ES384', 'EdDSA', 'RS256', 'PS256'])(
    'are accepted with a proof of the algorithm %s',
    async (alg) => {
      const { issuer, provider } = await setUp();
      const client = await Client.create(alg);
      const token = await issuer.sign({ cnf: { jkt: client.jkt } });
      expect(await send(provider, token, await client.prove(token))).toBeDefined();
    },
  );

  it('are refused with the scheme Bearer, even with a proof', async () => {
    const { provider, client, token } = await setUp();
    await expectRefused(send(provider, token, undefined, 'Bearer'), 'invalid_token', /scheme DPoP/);
    await expectRefused(
      send(provider, token, await client.prove(token), 'Bearer'),
      'invalid_token',
      /scheme DPoP/,
    );
  });

  it('do not make tokens without a key acceptable under the scheme DPoP', async () => {
    const { issuer, provider, client } = await setUp();
    const plain = await issuer.sign();
    expect(await send(provider, plain, undefined, 'Bearer')).toBeDefined();
    await expectRefused(send(provider, plain, await client.prove(plain)), 'invalid_token', /not bound/);
  });

  it('are the only ones if DPoP is required', async () => {
    const { issuer, provider, client, token } = await setUp({ dpop: 'required' });
    await expectRefused(
      send(provider, await issuer.sign(), undefined, 'Bearer'),
      'invalid_token',
      /only tokens/,
    );
    expect(await send(provider, token, await client.prove(token))).toBeDefined();
    expect(provider.schemes).toEqual(['DPoP']);
  });

  it('are refused with the proof of a thief who has another key', async () => {
    const { provider, token } = await setUp();
    const thief = await Client.create();
    await expectRefused(send(provider, token, await thief.prove(token)), 'invalid_dpop_proof', /another key/);
  });

  it.each<[string, ProofChanges, RegExp]>([
    ['another method', { claims: { htm: 'GET' } }, /method \(htm\)/],
    ['a method in small letters', { claims: { htm: 'post' } }, /method/],
    ['another path', { claims: { htu: 'https://mcp.example/other' } }, /URL \(htu\)/],
    ['another host', { claims: { htu: 'https://evil.example/mcp' } }, /URL/],
    ['another scheme', { claims: { htu: 'http://mcp.example/mcp' } }, /URL/],
    ['another port', { claims: { htu: 'https://mcp.example:444/mcp' } }, /URL/],
    ['a URL that is not one', { claims: { htu: 'mcp' } }, /URL/],
    ['no URL', { claims: { htu: undefined } }, /URL/],
    ['another token', { claims: { ath: nodeDigest('other') } }, /token \(ath\)/],
    ['no hash of the token', { claims: { ath: undefined } }, /ath/],
    ['an old time', { claims: { iat: now() - 400 } }, /iat/],
    ['a time in the future', { claims: { iat: now() + 400 } }, /iat/],
    ['no time', { claims: { iat: undefined } }, /iat/],
    ['no name', { claims: { jti: undefined } }, /jti/],
    ['an empty name', { claims: { jti: '' } }, /jti/],
    ['a name that is too long', { claims: { jti: 'a'.repeat(300) } }, /jti/],
    ['another type', { header: { typ: 'JWT' } }, /dpop\+jwt/],
    ['no type', { header: { typ: undefined } }, /dpop\+jwt/],
    ['no key', { header: { jwk: undefined } }, /not a public key/],
    ['a symmetric key', { header: { jwk: { kty: 'oct', k: 'AAAA' } } }, /not a public key/],
    [
      'a key that is not one',
      { header: { jwk: { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' } } },
      /not a public key/,
    ],
    ['a key that is too long', { header: { jwk: { kty: 'EC', x: 'a'.repeat(4000) } } }, /not a public key/],
  ])('are refused with a proof that has %s', async (_, changes, description) => {
    const { provider, client, token } = await setUp();
    await expectRefused(
      send(provider, token, await client.prove(token, changes)),
      'invalid_dpop_proof',
      description,
    );
  });

  it('are refused with a proof that contains the private key', async () => {
    const { provider, client, token } = await setUp();
    const proof = await client.prove(token, { header: { jwk: { ...client.jwk, d: 'AAAA' } } });
    await expectRefused(send(provider, token, proof), 'invalid_dpop_proof', /not a public key/);
  });

  it('are refused without a proof, with two, and with text that is not a proof', async () => {
    const { provider, client, token } = await setUp();
    await expectRefused(send(provider, token), 'invalid_dpop_proof', /missing/);
    const two = `${await client.prove(token)}, ${await client.prove(token)}`;
    await expectRefused(send(provider, token, two), 'invalid_dpop_proof', /exactly one proof|JWT/);
    await expectRefused(send(provider, token, 'nonsense'), 'invalid_dpop_proof', /exactly one proof/);
    await expectRefused(send(provider, token, 'a'.repeat(10_000)), 'invalid_dpop_proof', /too long/);
  });

  it('are refused with a proof without a signature, with HS256, and with a changed one', async () => {
    const { provider, client, token } = await setUp();
    const [header = '', payload = '', signature = ''] = (await client.prove(token)).split('.');
    const withAlg = (alg: string) => {
      const changed = { ...JSON.parse(Buffer.from(header, 'base64url').toString()), alg };
      return `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${payload}.${signature}`;
    };
    await expectRefused(send(provider, token, withAlg('none')), 'invalid_dpop_proof', /algorithm/);
    await expectRefused(send(provider, token, withAlg('HS256')), 'invalid_dpop_proof', /algorithm/);
    const other = (await client.prove(token)).split('.')[2];
    await expectRefused(
      send(provider, token, `${header}.${payload}.${other}`),
      'invalid_dpop_proof',
      /signature/,
    );
  });

  it('are accepted for equal URLs that are written differently, and for a web socket', async () => {
    const { provider, client, token } = await setUp();
    for (const htu of [
      'https://MCP.example:443/mcp',
      'https://mcp.example/mcp?query=1#x',
      'wss://mcp.example/mcp',
    ])
      expect(await send(provider, token, await client.prove(token, { claims: { htu } }))).toBeDefined();
  });

  it('are refused with a proof that another process has seen', async () => {
    const store = memoryStore();
    const { issuer, provider, client, token } = await setUp({}, authContext({ store }));
    const other = createJwt(issuer.runtime, { issuer: issuer.issuer, audience: url, dpop: 'supported' });
    await other.start?.(authContext({ store }));
    const proof = await client.prove(token);
    const sent = await Promise.allSettled([send(provider, token, proof), send(other, token, proof)]);
    expect(sent.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('are refused with 503 if the store cannot record the proof, or if the server never started', async () => {
    const store = { ...memoryStore(), write: () => Promise.reject(new Error('down')) };
    const { provider, client, token, issuer } = await setUp({}, authContext({ store }));
    expect((await refusal(send(provider, token, await client.prove(token)))).status).toBe(503);
    const unstarted = createJwt(issuer.runtime, { issuer: issuer.issuer, audience: url, dpop: 'supported' });
    expect((await refusal(send(unstarted, token, await client.prove(token)))).status).toBe(503);
  });

  it('can be used by two keys with the same names for their proofs', async () => {
    const { issuer, provider, client, token } = await setUp();
    const second = await Client.create();
    const other = await issuer.sign({ cnf: { jkt: second.jkt } });
    const claims = { jti: 'same' };
    expect(await send(provider, token, await client.prove(token, { claims }))).toBeDefined();
    expect(await send(provider, other, await second.prove(other, { claims }))).toBeDefined();
  });

  it('survive more proofs than the store has room for entries', async () => {
    const store = memoryStore({ maxEntries: 200 });
    const { provider, client, token } = await setUp({}, authContext({ store }));
    for (let count = 0; count < 300; count++)
      expect(await send(provider, token, await client.prove(token))).toBeDefined();
  });
});

describe('nonces for proofs', () => {
  const secrets = ['a secret of the server, long enough'];

  it('are asked for, and accepted in every process with the same secret', async () => {
    const { issuer, provider, client, token } = await setUp({ dpopNonce: true }, authContext({ secrets }));
    const error = await refusal(send(provider, token, await client.prove(token)));
    expect(error.challenge).toMatchObject({
      scheme: 'DPoP',
      error: 'use_dpop_nonce',
      nonce: expect.any(String),
    });
    const claims = { nonce: error.challenge?.nonce };
    expect(await send(provider, token, await client.prove(token, { claims }))).toBeDefined();
    const other = createJwt(issuer.runtime, {
      issuer: issuer.issuer,
      audience: url,
      dpop: 'supported',
      dpopNonce: true,
    });
    await other.start?.(authContext({ secrets: ['a new secret of the server, long enough', ...secrets] }));
    expect(await send(other, token, await client.prove(token, { claims }))).toBeDefined();
    const stranger = createJwt(issuer.runtime, {
      issuer: issuer.issuer,
      audience: url,
      dpop: 'supported',
      dpopNonce: true,
    });
    await stranger.start?.(authContext({ secrets: ['another secret altogether, long enough'] }));
    await expectRefused(
      send(stranger, token, await client.prove(token, { claims })),
      'use_dpop_nonce',
      /nonce/,
    );
  });

  it('expire after ten minutes', async () => {
    const issuer = await TokenIssuer.create();
    const clock = { now: Date.now() };
    const options = { issuer: issuer.issuer, audience: url, dpop: 'required', dpopNonce: true } as const;
    const provider = createJwt(issuer.runtime, options, { now: () => clock.now });
    await provider.start?.(authContext({ secrets }));
    const client = await Client.create();
    const token = await issuer.sign({ cnf: { jkt: client.jkt } });
    const prove = (nonce?: string) =>
      client.prove(token, { claims: { nonce, iat: Math.floor(clock.now / 1000) } });
    const first = (await refusal(send(provider, token, await prove()))).challenge?.nonce as string;
    expect(await send(provider, token, await prove(first))).toBeDefined();
    clock.now += 10 * 60_000;
    const { challenge } = await refusal(send(provider, token, await prove(first)));
    expect(challenge?.error).toBe('use_dpop_nonce');
    expect(challenge?.nonce).not.toBe(first);
  });

  it('work in one process without a secret, and the operator is told', async () => {
    const context = authContext();
    const { provider, client, token } = await setUp({ dpopNonce: true }, context);
    const { challenge } = await refusal(send(provider, token, await client.prove(token)));
    const claims = { nonce: challenge?.nonce };
    expect(await send(provider, token, await client.prove(token, { claims }))).toBeDefined();
    expect(context.logged).toEqual([expect.stringContaining('MCP_SECRET')]);
    // A second handler of the server starts the provider again.
    await provider.start?.(context);
    expect(await send(provider, token, await client.prove(token, { claims }))).toBeDefined();
    expect(context.logged).toHaveLength(1);
  });
});

describe('a provider of two servers with a store each', () => {
  it('records proofs in a store that is still open, whichever server is closed first', async () => {
    const closed = new Set<object>();
    const context = () => {
      const store = memoryStore();
      const write: typeof store.write = (changes) => {
        if (closed.has(store)) throw new Error('The store is closed.');
        return store.write(changes);
      };
      return { store, context: authContext({ store: { ...store, write } }) };
    };
    for (const first of [0, 1]) {
      const both = [context(), context()] as const;
      const { provider, client, token } = await setUp({}, both[0].context);
      await provider.start?.(both[1].context);
      await provider.close?.(both[first]?.context);
      closed.add(both[first]?.store as object);
      const proof = await client.prove(token);
      expect(await send(provider, token, proof)).toBeDefined();
      expect((await refusal(send(provider, token, proof))).status).toBe(401);
    }
  });
});

describe('the proofs of our own client', () => {
  it.each(['ES256', 'Ed25519', 'ES384', 'PS256', 'RS256'])(
    'are accepted with %s, with and without a nonce',
    async (alg) => {
      const { issuer, provider } = await setUp(
        { dpopNonce: true },
        authContext({ secrets: ['s'.repeat(40)] }),
      );
      const key = await DpopKey.create({
        issuer: issuer.issuer,
        dpop_signing_alg_values_supported: [alg],
      });
      const { publicKey } = await key.export();
      const token = await issuer.sign({
        cnf: { jkt: await calculateJwkThumbprint(publicKey as unknown as JWK) },
      });
      const { challenge } = await refusal(send(provider, token, await key.prove(url, 'POST', token)));
      key.learnNonce(url, challenge?.nonce as string);
      expect(await send(provider, token, await key.prove(url, 'POST', token))).toBeDefined();
      expect(await send(provider, token, await key.prove(`${url}?x=1`, 'POST', token))).toBeDefined();
    },
  );
});
