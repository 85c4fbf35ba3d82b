import { memoryStore, type Store } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LoginGrant } from '../../../../../src/oauth/proxy/tokens/grant.js';
import { Grants } from '../../../../../src/oauth/proxy/tokens/grants.js';
import { digestText } from '../../../../../src/oauth/proxy/tokens/random.js';
import { Records } from '../../../../../src/oauth/proxy/tokens/records.js';
import { Sealer } from '../../../../../src/oauth/proxy/tokens/sealer.js';
import { UpstreamTokenKeeper } from '../../../../../src/oauth/proxy/tokens/upstream-tokens.js';
import type { UpstreamTokens } from '../../../../../src/oauth/proxy/upstream/provider.js';
import type { Upstream } from '../../../../../src/oauth/proxy/upstream/upstream.js';
import { UpstreamError } from '../../../../../src/oauth/proxy/upstream/upstream-error.js';

/** Longer than the lease of a process that refreshes. */
const PAST_THE_LEASE_MS = 31_000;
const VERIFIER = 'v'.repeat(43);
const REDIRECT = 'https://app.example.com/callback';
const OLD: UpstreamTokens = { accessToken: 'access-1', refreshToken: 'refresh-1', expiresAt: 1 };

// Only the clock of leases: everything else takes the time that it takes.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** One process of the server, whose provider replies when the test says so. */
class Process {
  readonly grants: Grants;
  readonly keeper: UpstreamTokenKeeper;
  readonly revoked: LoginGrant[] = [];
  refreshes = 0;
  reply!: (tokens: string) => void;
  refuse!: (error: Error) => void;

  constructor(store: Store) {
    const sealer = new Sealer(['a secret with at least 32 characters'], 'a server');
    const records = new Records({ store, sealer, owner: 'a server' });
    const limits = { codeMs: 60_000, maxAgeMs: 3_600_000, graceMs: 1000 };
    const onRevoked = (grant: LoginGrant): void => void this.revoked.push(grant);
    this.grants = new Grants({ records, sealer }, { ...limits, onRevoked });
    const upstream = { refresh: () => this.#refresh() } as unknown as Upstream;
    this.keeper = new UpstreamTokenKeeper({
      ...{ store, records, upstream },
      grants: this.grants,
      unverifiedMaxAgeMs: 3_600_000,
    });
  }

  #refresh(): Promise<UpstreamTokens> {
    this.refreshes++;
    return new Promise((resolve, reject) => {
      this.reply = (name) =>
        resolve({
          accessToken: `access-${name}`,
          refreshToken: `refresh-${name}`,
          expiresAt: Date.now() + 3_600_000,
        });
      this.refuse = reject;
    });
  }

  /** Begins to refresh, and resolves when the provider is asked. */
  async begin(grant: LoginGrant): Promise<{ readonly end: Promise<string> }> {
    const before = this.refreshes;
    const end = this.keeper.freshen(grant).then(
      ({ accessToken }) => accessToken,
      (error: Error) => error.message,
    );
    await expect.poll(() => this.refreshes).toBe(before + 1);
    return { end };
  }
}

/** A login whose tokens have expired. */
async function login({ grants }: Process): Promise<LoginGrant> {
  const code = await grants.create({
    ...{ clientId: 'client', scopes: [], mayRefresh: true, upstream: OLD },
    user: { issuer: 'https://provider.example.com', subject: 'alice' },
    ...{ loggedInAt: Date.now(), confirmedAt: Date.now() },
    redirectUri: REDIRECT,
    challenge: await digestText(VERIFIER),
  });
  return grants.redeem({ code, clientId: 'client', redirectUri: REDIRECT, verifier: VERIFIER });
}

async function setUp() {
  const store = memoryStore();
  const [slow, other] = [new Process(store), new Process(store)];
  const grant = await login(slow);
  const stored = async (): Promise<string | undefined> =>
    (await other.grants.find(grant.id))?.upstream.accessToken;
  return { slow, other, grant, stored };
}

const dead = new UpstreamError('The provider refused the refresh (invalid_grant).', { isFinal: true });
const down = new UpstreamError('The provider could not be reached.');

describe('the tokens of a provider', () => {
  it('the tokens of a provider are not overwritten by a process that was slower than its lease', async () => {
    const { slow, other, grant, stored } = await setUp();
    const first = await slow.begin(grant);
    vi.advanceTimersByTime(PAST_THE_LEASE_MS);
    const second = await other.begin(grant);
    other.reply('2');
    expect(await second.end).toBe('access-2');
    slow.reply('late');
    expect(await first.end).toBe('access-2');
    expect(await stored()).toBe('access-2');
  });

  it('new tokens of a provider are stored by a process that was slower than its lease if nobody has newer ones', async () => {
    const { slow, other, grant, stored } = await setUp();
    const first = await slow.begin(grant);
    vi.advanceTimersByTime(PAST_THE_LEASE_MS);
    const second = await other.begin(grant);
    other.refuse(down);
    expect(await second.end).toBe(down.message);
    slow.reply('late');
    expect(await first.end).toBe('access-late');
    expect(await stored()).toBe('access-late');
  });

  it('the newer tokens of a login stay when the provider refuses the old ones to a process that was slower than its lease', async () => {
    const { slow, other, grant, stored } = await setUp();
    const first = await slow.begin(grant);
    vi.advanceTimersByTime(PAST_THE_LEASE_MS);
    const second = await other.begin(grant);
    other.reply('2');
    expect(await second.end).toBe('access-2');
    slow.refuse(dead);
    expect(await first.end).toBe('access-2');
    expect(await stored()).toBe('access-2');
    expect(slow.revoked).toEqual([]);
  });

  it('a login ends when its provider refuses its tokens', async () => {
    const { slow, grant, stored } = await setUp();
    const first = await slow.begin(grant);
    slow.refuse(dead);
    expect(await first.end).toMatch(/log in again/);
    expect(await stored()).toBeUndefined();
    expect(slow.revoked).toHaveLength(1);
  });

  it('the tokens of a provider are refreshed again after a failure of the provider', async () => {
    const { slow, other, grant, stored } = await setUp();
    const first = await slow.begin(grant);
    slow.refuse(down);
    expect(await first.end).toBe(down.message);
    // The rest after a failure is over.
    vi.advanceTimersByTime(1000);
    const second = await other.begin(grant);
    other.reply('2');
    expect(await second.end).toBe('access-2');
    expect(await stored()).toBe('access-2');
  });
});
