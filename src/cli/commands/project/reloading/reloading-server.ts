// A server that passes calls on to the newest version of the code, and keeps its clients when the version changes.

import { BoundedMap } from '../../../../async/bounded-map.js';
import { callEnded } from '../../../../async/lifetime.js';
import { listen } from '../../../../connect/proxy/listen.js';
import type { ProxyServer } from '../../../../connect/proxy/make-proxy.js';
import type { Call, Dispatch, Outcome } from '../../../../protocol/call.js';
import { EVENT_STREAM } from '../../../../protocol/events/methods.js';
import { SUBSCRIPTION_ID } from '../../../../protocol/meta.js';
import { asChanging, emptyList, grantingChanges } from './changing-lists.js';
import type { LoadedCode } from './loaded-code.js';

/** Older versions that still have calls or questions. The oldest one is closed first. */
const MAX_OLDER = 8;
const MAX_PENDING = 1000;

interface Version extends LoadedCode {
  /** Aborts when a newer version takes over. */
  readonly replaced: AbortController;
  openCalls: number;
}

export class ReloadingServer implements ProxyServer {
  #current: Version;
  readonly #older = new Set<Version>();
  /** The version that has asked a question or started a task, by its state or id. It gets the answer, too. */
  readonly #pending = new BoundedMap<string, Version>(MAX_PENDING);

  constructor(first: LoadedCode) {
    this.#current = versionOf(first);
  }

  readonly dispatch: Dispatch = (call) => {
    if (call.method === 'subscriptions/listen') return listen(call, this.#listen);
    return call.method === EVENT_STREAM ? this.#stream(call) : this.#forward(call);
  };

  readonly logger = (): void => undefined;
  readonly start = async (): Promise<void> => undefined;

  /** Sends new calls to another version. Subscriptions move there, and their clients hear that everything may have changed. */
  replace(next: LoadedCode): void {
    const old = this.#current;
    this.#current = versionOf(next);
    this.#older.add(old);
    old.replaced.abort();
    this.#retire(old);
    const [oldest] = this.#older;
    if (this.#older.size > MAX_OLDER && oldest) this.#end(oldest);
  }

  /** Whether the current version answers. */
  readonly isServing = (within: AbortSignal): Promise<boolean> => this.#current.isServing(within);

  readonly close = async (): Promise<void> => {
    await Promise.all([this.#current, ...this.#older].map((version) => version.close()));
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #listen = async (call: Call): Promise<Outcome> => {
    const version = this.#current;
    const signal = AbortSignal.any([call.signal, version.replaced.signal]);
    const ended = callEnded({ signal }).then((): Outcome => ({ resultType: 'complete' }));
    // A version that is replaced is not waited for. One whose lists never change ends the subscription at once.
    await Promise.race([version.dispatch({ ...call, signal, notify: grantingChanges(call) }), ended]);
    return ended;
  };

  /** A stream of events ends with its version. Clients open it again, and get the events of the next one. */
  #stream(call: Call): Promise<Outcome> {
    const version = this.#current;
    const signal = AbortSignal.any([call.signal, version.replaced.signal]);
    const _meta = { [SUBSCRIPTION_ID]: call.id };
    const ended = callEnded({ signal }).then((): Outcome => ({ resultType: 'complete', _meta }));
    return Promise.race([version.dispatch({ ...call, signal, notify: call.notify }), ended]);
  }

  async #forward(call: Call): Promise<Outcome> {
    const key = keyOf(call.params);
    const version = (key !== undefined && this.#pending.get(key)) || this.#current;
    const empty = emptyList(call, version.manifest.capabilities);
    if (empty !== undefined) return empty;
    version.openCalls++;
    try {
      const outcome = asChanging(call, await version.dispatch(call));
      const next = keyOf(outcome);
      if (typeof call.params['requestState'] === 'string') this.#pending.delete(call.params['requestState']);
      if (next !== undefined && outcome.resultType !== 'complete') this.#pending.set(next, version);
      return outcome;
    } finally {
      version.openCalls--;
      this.#retire(version);
    }
  }

  /** Closes a version that has nothing left to do. */
  #retire(version: Version): void {
    if (version === this.#current || version.openCalls > 0) return;
    if ([...this.#pending.values()].includes(version)) return;
    this.#end(version);
  }

  #end(version: Version): void {
    if (!this.#older.delete(version)) return;
    for (const [key, owner] of this.#pending) if (owner === version) this.#pending.delete(key);
    void version.close().catch(() => undefined);
  }
}

function versionOf(code: LoadedCode): Version {
  return { ...code, replaced: new AbortController(), openCalls: 0 };
}

/** The state of a question, or the id of a task. */
function keyOf({ requestState, taskId }: Readonly<Record<string, unknown>>): string | undefined {
  return [requestState, taskId].find((key) => typeof key === 'string') as string | undefined;
}
