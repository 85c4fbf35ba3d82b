import { ExpiringMap } from '../../async/expiring-map.js';
import { randomToken } from '../proxy/tokens/random.js';
import type { UpstreamSecrets } from '../proxy/upstream/upstream.js';

// The logins that users were asked for and have not finished. They belong to this process.

const MAX_LOGINS = 10_000;

/** A login that a user was asked for. */
export interface PendingLogin {
  /** The part of its URL that nobody can guess. */
  readonly id: string;
  /** The caller whom it was made for. Nobody else can finish it. */
  readonly principal: string;
  /** Resolves when the user has logged in. */
  readonly done: Promise<void>;
  readonly finish: () => void;
}

/** A way through the browser, from the page to the provider and back. */
export interface StartedLogin {
  readonly pending: PendingLogin;
  readonly secrets: UpstreamSecrets;
  /** The value of the cookie of the browser that has begun. */
  readonly browser: string;
}

/** Keeps logins until they are finished, or too old. */
export class PendingLogins {
  readonly #loginMs: number;
  readonly #byPrincipal: ExpiringMap<PendingLogin>;
  readonly #byId: ExpiringMap<PendingLogin>;
  readonly #started: ExpiringMap<StartedLogin>;

  constructor(loginMs: number) {
    this.#loginMs = loginMs;
    const limits = { maxEntries: MAX_LOGINS, now: () => performance.now() };
    this.#byPrincipal = new ExpiringMap(limits);
    this.#byId = new ExpiringMap(limits);
    this.#started = new ExpiringMap(limits);
  }

  /** The login that a caller was asked for; undefined if there is none. */
  of(principal: string): PendingLogin | undefined {
    return this.#byPrincipal.get(principal);
  }

  /** The login of a caller: the same for all calls that need one. */
  ask(principal: string): PendingLogin {
    const known = this.of(principal);
    if (known !== undefined) return known;
    let finish = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const pending = { id: randomToken(), principal, done, finish };
    this.#byPrincipal.set(principal, pending, this.#loginMs);
    this.#byId.set(pending.id, pending, this.#loginMs);
    return pending;
  }

  /** The login of a URL; undefined if it is finished, too old, or was never asked for. */
  at(id: string): PendingLogin | undefined {
    return this.#byId.get(id);
  }

  start(pending: PendingLogin): StartedLogin {
    const secrets = { state: randomToken(), verifier: randomToken(), nonce: randomToken() };
    const started = { pending, secrets, browser: randomToken() };
    this.#started.set(secrets.state, started, this.#loginMs);
    return started;
  }

  /** The login that the provider sends a browser back from. Each `state` counts once. */
  take(state: string): StartedLogin | undefined {
    const started = this.#started.get(state);
    this.#started.delete(state);
    return started !== undefined && this.at(started.pending.id) === undefined ? undefined : started;
  }

  /** Ends a login whose tokens are stored. */
  finish({ id, principal, finish }: PendingLogin): void {
    this.#byId.delete(id);
    if (this.of(principal)?.id === id) this.#byPrincipal.delete(principal);
    finish();
  }
}
