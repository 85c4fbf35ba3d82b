import { memoryTokenStore, type OAuthOptions, oauth } from 'fullmcp/oauth';
import { describe, expect, it } from 'vitest';
import { McpError } from '../../../src/protocol/errors.js';
import { failureOf } from '../../support/failure.js';
import { FakeWorld, ISSUER } from '../../support/oauth/fake-world.js';
import { until } from '../../support/until.js';

/** A browser whose user logs in when the test says so. */
class SlowBrowser {
  readonly opened: URL[] = [];
  readonly open = (url: string): void => void this.opened.push(new URL(url));

  /** Comes back from a login, and resolves to the status of the last page. */
  async comeBack(at: number, parameters: Record<string, string> = {}): Promise<number> {
    const sent = this.opened[at]?.searchParams as URLSearchParams;
    const query = new URLSearchParams({
      code: 'the code',
      state: sent.get('state') ?? '',
      iss: ISSUER,
      ...parameters,
    });
    return (await fetch(`${sent.get('redirect_uri')}?${query}`)).status;
  }
}

function setUp(more: OAuthOptions = {}) {
  const world = new FakeWorld();
  const browser = new SlowBrowser();
  const login = () => oauth({ fetch: world.fetch, open: browser.open, ...more });
  return { world, browser, login };
}

describe('oauth while the user logs in', () => {
  it('opens one browser for two programs that share a store, however many requests they send', async () => {
    const { world, browser, login } = setUp({ store: memoryTokenStore() });
    const [one, two] = [login(), login()];
    const calls = [one, two, one, two, one].map((auth) => world.call(auth));
    await until('the browser was opened', () => browser.opened.length === 1);
    expect(await browser.comeBack(0)).toBe(200);
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    expect(browser.opened).toHaveLength(1);
    expect(world.count('/register')).toBe(1);
    expect(world.count('authorization_code')).toBe(1);
  });

  it('keeps two logins at two servers apart', async () => {
    const { world, browser, login } = setUp();
    const first = world.call(login());
    await until('the first browser was opened', () => browser.opened.length === 1);
    const second = world.call(login());
    await until('the second browser was opened', () => browser.opened.length === 2);
    // The state of one is not accepted at the address of the other.
    const state = browser.opened[0]?.searchParams.get('state') ?? '';
    expect(await browser.comeBack(1, { state })).toBe(400);
    expect(await browser.comeBack(1)).toBe(200);
    expect((await second).status).toBe(200);
    expect(await browser.comeBack(0)).toBe(200);
    expect((await first).attempts).toBeGreaterThan(1);
  });

  it('gives up when the browser does not come back, stops listening, and can begin again', async () => {
    const { world, browser, login } = setUp({ loginTimeoutMs: 50 });
    const auth = login();
    const failure = await failureOf(McpError, world.call(auth));
    expect(failure.message).toContain('The user did not log in within');
    await expect(browser.comeBack(0)).rejects.toThrow();
    expect(world.count('authorization_code')).toBe(0);
    const next = world.call(oauth({ fetch: world.fetch, open: browser.open }));
    await until('the browser was opened again', () => browser.opened.length === 2);
    await browser.comeBack(1);
    expect((await next).status).toBe(200);
  });

  it('tells the user and the program that the user has refused, and asks again only for the next request', async () => {
    const { world, browser, login } = setUp();
    const auth = login();
    const refused = failureOf(McpError, world.call(auth));
    await until('the browser was opened', () => browser.opened.length === 1);
    const sent = browser.opened[0]?.searchParams;
    const query = new URLSearchParams({
      error: 'access_denied',
      state: sent?.get('state') ?? '',
      iss: ISSUER,
    });
    expect((await fetch(`${sent?.get('redirect_uri')}?${query}`)).status).toBe(400);
    expect((await refused).data).toMatchObject({ hop: 'authorization', error: 'access_denied' });
    expect(browser.opened).toHaveLength(1);
  });
});
