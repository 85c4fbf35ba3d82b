import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SafeFetch } from '../../../../../src/oauth/fetch/safe-fetch.js';
import { ClientKeys } from '../../../../../src/oauth/proxy/clients/client-keys.js';
import { OAuthError } from '../../../../../src/oauth/proxy/tokens/oauth-error.js';
import { failureOf } from '../../../../support/failure.js';

const URL_OF_KEYS = 'https://app.example.com/keys.json';

/** A client that signs assertions, and the site with its keys. */
class Client {
  now = 1_000_000;
  readonly fetched: string[] = [];
  published: object[] = [];
  status = 200;
  readonly #fetch: SafeFetch = async (url, init) => {
    this.fetched.push(String(url));
    expect(init).toMatchObject({ redirect: 'error', loopback: 'refuse' });
    return Response.json({ keys: this.published }, { status: this.status });
  };
  readonly keys = new ClientKeys((url, init) => this.#fetch(url, init), { now: () => this.now });

  /** Makes a key. Returns a function that verifies an assertion which the key has signed. */
  async key(kid: string): Promise<{ readonly jwk: object; readonly verify: () => Promise<unknown> }> {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const assertion = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
    const jwk = { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
    return { jwk, verify: () => jwtVerify(assertion, this.keys.at(URL_OF_KEYS)) };
  }
}

describe('ClientKeys', () => {
  let client: Client;
  beforeEach(() => {
    client = new Client();
  });

  it('fetches the keys of a client once for many assertions, at once and one after another', async () => {
    const { jwk, verify } = await client.key('one');
    client.published = [jwk];
    await Promise.all([verify(), verify(), verify()]);
    for (let i = 0; i < 5; i++) await verify();
    expect(client.fetched).toEqual([URL_OF_KEYS]);
  });

  it('does not fetch them again for assertions with unknown keys, except once in 30 s', async () => {
    const [known, unknown] = [await client.key('one'), await client.key('two')];
    client.published = [known.jwk];
    await known.verify();
    client.now += 1000;
    for (let i = 0; i < 50; i++) await expect(unknown.verify()).rejects.toThrow('no applicable key');
    expect(client.fetched).toHaveLength(1);
    client.now += 30_000;
    client.published = [known.jwk, unknown.jwk];
    await unknown.verify();
    expect(client.fetched).toHaveLength(2);
  });

  it('does not accept a key that the client has removed, once the keys are 10 minutes old', async () => {
    const [removed, other] = [await client.key('one'), await client.key('two')];
    client.published = [removed.jwk];
    await removed.verify();
    client.published = [other.jwk];
    client.now += 10 * 60_000;
    await expect(removed.verify()).rejects.toThrow('no applicable key');
    client.published = [];
    client.now += 10 * 60_000;
    await expect(other.verify()).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  });

  it('says that the keys cannot be fetched instead of blaming the client, and asks only every 5 s', async () => {
    const { verify } = await client.key('one');
    client.status = 503;
    for (let i = 0; i < 10; i++)
      expect((await failureOf(OAuthError, verify())).code).toBe('temporarily_unavailable');
    expect(client.fetched).toHaveLength(1);
    client.now += 5000;
    await failureOf(OAuthError, verify());
    expect(client.fetched).toHaveLength(2);
  });

  it('uses the last keys while their site fails, for at most an hour', async () => {
    const { jwk, verify } = await client.key('one');
    client.published = [jwk];
    await verify();
    client.status = 500;
    for (let minutes = 0; minutes < 60; minutes += 10) {
      await verify();
      client.now += 10 * 60_000;
    }
    client.now += 1;
    expect((await failureOf(OAuthError, verify())).code).toBe('temporarily_unavailable');
  });

  it('limits the fetches that run at once', async () => {
    const waiting: ((response: Response) => void)[] = [];
    const keys = new ClientKeys(() => new Promise((resolve) => waiting.push(resolve)));
    const find = (at: number) => keys.at(`https://app.example.com/${at}.json`)({ alg: 'ES256' }, {} as never);
    const first = Array.from({ length: 20 }, (_, at) => find(at).catch((error: unknown) => error));
    expect((await failureOf(OAuthError, find(20))).code).toBe('temporarily_unavailable');
    expect(waiting).toHaveLength(20);
    for (const reply of waiting) reply(Response.json({ keys: [] }));
    await Promise.all(first);
  });
});
