// The watch of one resource that has subscribers.

import { unlessAborted } from '../../async/abort.js';
import { type BackoffOptions, backoff } from '../../async/delay.js';
import { unref } from '../../async/unref.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ResourceMatch } from '../catalog/registry.js';
import type { SubscriptionContext, SubscriptionHook } from '../define/resource.js';
import type { TemplateValues } from '../define/template-values.js';
import type { Changed } from '../state/changes.js';
import type { Logger } from '../state/log.js';
import type { WatchClaims } from './claims.js';

/** The time for a client to reconnect before its resource counts as one without subscribers. */
const LINGER_MS = 1000;
const RETRY: BackoffOptions = { baseMs: 1000, maxMs: 60_000 };
const RETRY_CLOSING: BackoffOptions = { baseMs: 50, maxMs: 500 };
/** The longest time for a hook. */
const HOOK_MS = 30_000;

/** The parts of the server that watches need. */
export interface UriWatchParts {
  readonly claims: WatchClaims;
  readonly changed: Changed;
  readonly log: Logger;
  /** Returns the value that `lifespan` yielded. */
  readonly state: () => Promise<unknown>;
  /** Runs work when there is room for it. */
  readonly schedule: (work: () => Promise<void>) => void;
  /** Called when nothing is left to do for this resource. */
  readonly onEnd: (uri: string) => void;
}

/**
 * The watch of one resource: counts its subscribers in this process and calls its hooks, one after the other. All events are noted,
 * and one loop compares what is with what should be.
 */
export class UriWatch {
  readonly #match: ResourceMatch;
  readonly #parts: UriWatchParts;
  #subscribers = 0;
  #idleSince = 0;
  /** Whether this process has claimed the watch. */
  #isHeld = false;
  /** Whether another process had the watch, so that changes may have been missed since. */
  #hasFollowed = false;
  #mustVerify = false;
  /** Ends the watch that `onSubscribe` has started. */
  #started: AbortController | undefined;
  #starting: AbortController | undefined;
  #isBusy = false;
  #isStale = false;
  #isClosing = false;
  #hasEnded = false;
  #failures = 0;
  /** The time before which nothing is tried again after a failure. */
  #retryAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onEnded: (() => void) | undefined;

  constructor(match: ResourceMatch, parts: UriWatchParts) {
    this.#match = match;
    this.#parts = parts;
  }

  add(): void {
    this.#subscribers++;
    this.#look();
  }

  remove(): void {
    this.#subscribers--;
    this.#idleSince = performance.now();
    this.#look();
  }

  /** Looks whether another process has changed something. */
  check(): void {
    this.#mustVerify = true;
    this.#look();
  }

  /** Ends the watch here, whatever subscribers there are. Resolves when another process can have it. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#isClosing = true;
      if (this.#hasEnded) return resolve();
      this.#onEnded = resolve;
      this.#retryAt = 0;
      this.#starting?.abort(new DOMException('The server is shutting down', 'AbortError'));
      this.#look();
    });
  }

  get #isWanted(): boolean {
    return this.#subscribers > 0 && !this.#isClosing;
  }

  #look(): void {
    clearTimeout(this.#timer);
    this.#isStale = true;
    if (this.#isBusy || this.#hasEnded) return;
    this.#isBusy = true;
    this.#parts.schedule(() => this.#settle());
  }

  #lookLater(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), ms);
    unref(this.#timer);
  }

  async #settle(): Promise<void> {
    try {
      while (this.#isStale && !this.#hasEnded) {
        this.#isStale = false;
        await this.#step();
      }
    } catch (error) {
      const uri = shorten(this.#match.uri, 256);
      this.#parts.log('error', `The store could not tell which process watches the resource "${uri}"`, error);
      this.#postpone();
    }
    this.#isBusy = false;
    if (this.#isStale && !this.#hasEnded) this.#look();
  }

  // A subscriber that comes in the meantime does not make the next attempt earlier.
  #postpone(): void {
    this.#retryAt = performance.now() + backoff(this.#failures++, this.#isClosing ? RETRY_CLOSING : RETRY);
    this.#isStale = true;
  }

  async #step(): Promise<void> {
    const waitMs = this.#retryAt - performance.now();
    if (waitMs > 0) return this.#lookLater(waitMs);
    if (this.#mustVerify && this.#isHeld && !(await this.#parts.claims.isMine(this.#match.uri))) {
      this.#isHeld = false;
      this.#hasFollowed = true;
      await this.#unsubscribe();
    }
    this.#mustVerify = false;
    if (this.#isWanted) return this.#start();
    const lingerMs = this.#isClosing ? 0 : this.#idleSince + LINGER_MS - performance.now();
    return lingerMs > 0 ? this.#lookLater(lingerMs) : this.#stop();
  }

  async #start(): Promise<void> {
    if (!this.#isHeld) {
      const claim = await this.#parts.claims.claim(this.#match.uri);
      this.#isHeld = claim !== 'elsewhere';
      if (claim !== 'first') this.#hasFollowed = true;
    }
    if (this.#isHeld) await this.#subscribe();
  }

  async #stop(): Promise<void> {
    const { claims, onEnd } = this.#parts;
    const { uri } = this.#match;
    if (this.#isHeld && !this.#isClosing && (await claims.othersWant(uri))) return this.#subscribe();
    if (this.#isWanted) return;
    await this.#unsubscribe();
    await claims.release(uri);
    this.#isHeld = false;
    // A subscriber may have come in the meantime.
    if (this.#isWanted) return;
    this.#hasEnded = true;
    onEnd(uri);
    this.#onEnded?.();
  }

  async #subscribe(): Promise<void> {
    if (this.#started !== undefined) return;
    const controller = new AbortController();
    this.#starting = controller;
    try {
      await this.#run('onSubscribe', controller);
    } catch (error) {
      // The first failures are reported, and then fewer and fewer.
      const isReported = Number.isInteger(Math.log2(this.#failures + 1));
      if (isReported && !this.#isClosing) this.#report('onSubscribe', error, ' It is tried again.');
      return this.#postpone();
    } finally {
      this.#starting = undefined;
    }
    this.#started = controller;
    this.#failures = 0;
    if (this.#hasFollowed) this.#parts.changed.resource(this.#match.uri);
    this.#hasFollowed = false;
  }

  async #unsubscribe(): Promise<void> {
    const started = this.#started;
    if (started === undefined) return;
    this.#started = undefined;
    started.abort(new DOMException('The resource is no longer watched here', 'AbortError'));
    await this.#run('onUnsubscribe', new AbortController()).catch((error) =>
      this.#report('onUnsubscribe', error, ''),
    );
  }

  async #run(name: 'onSubscribe' | 'onUnsubscribe', controller: AbortController): Promise<void> {
    const { uri, source, values } = this.#match;
    const { changed, log, state } = this.#parts;
    await runHook(source.hooks?.[name], values, { uri, changed, log, state: await state(), controller });
  }

  #report(name: string, error: unknown, consequence: string): void {
    const uri = shorten(this.#match.uri, 256);
    this.#parts.log('error', `"${name}" of the resource "${uri}" failed.${consequence}`, error);
  }
}

/**
 * Runs a hook. Its signal aborts if the hook throws or takes too long. A hook that ignores its signal is not waited for, so that
 * it does not hold up other subscribers.
 */
async function runHook(
  hook: SubscriptionHook<TemplateValues, unknown> | undefined,
  values: TemplateValues,
  { controller, ...ctx }: Omit<SubscriptionContext, 'signal'> & { readonly controller: AbortController },
): Promise<void> {
  if (hook === undefined) return;
  const { signal } = controller;
  const late = (): void =>
    controller.abort(new DOMException(`The hook took longer than ${HOOK_MS} ms`, 'TimeoutError'));
  const timer = setTimeout(late, HOOK_MS);
  try {
    const running = (async () => hook(values, { ...ctx, signal }))();
    await unlessAborted(running, signal);
  } catch (error) {
    controller.abort(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
