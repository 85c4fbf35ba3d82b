import { BoundedMap } from '../../async/bounded-map.js';
import { hasEnded } from '../../async/lifetime.js';
import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { readOutputUri } from '../../protocol/model/output-uri.js';
import type { ServerChange, ServerResults } from '../../state/hosted-middleware.js';
import { callKeyOf, keysOf, type Owner } from './call-keys.js';
import { Entries, type EntryLimits, now, outcomeOf } from './entries.js';
import type { Fact } from './observed-call.js';
import { ToldProgress } from './progress.js';
import { type RunEnd, Runs, type SharedRun } from './runs.js';

/** The parts of `KeptResults`. */
export interface KeptResultsParts {
  readonly limits: EntryLimits;
  /** The scope of results that do not have one. */
  readonly cacheScope: 'public' | 'private';
  /** The caller of a call; undefined if it cannot be told from others. */
  readonly ownerOf: (call: Call) => Owner | undefined;
  /** The facts of the server; undefined if there is none. */
  readonly server: ServerResults | undefined;
}

/** The facts that the results of a call have in common, whoever makes it. */
interface Known {
  /** The facts that they have depended on, sorted. */
  readonly facts: readonly Fact[];
  /** Whether the last one was for all callers. */
  readonly isPublic: boolean;
}

/** A call whose result may be kept. */
interface Place {
  readonly callKey: string;
  readonly owner: Owner | undefined;
  /** The context of the owner, with the value of the option `user`. */
  readonly context: string | undefined;
  /** The key that calls at the same time find each other with; undefined if they must not. */
  readonly runKey: string | undefined;
  readonly freshness: ReturnType<ServerResults['freshness']>;
  /** The longest time to keep the result. */
  readonly ttlMs: number;
}

const NOTHING: Known = { facts: [], isPublic: false };
const ALONE: RunEnd = { kind: 'alone' };
/** A handler that reads more than these reads other ones each time. */
const MAX_FACTS = 16;

/** The results of one server or client, for the calls that are made again. */
export class KeptResults {
  readonly #parts: KeptResultsParts;
  readonly #entries: Entries;
  readonly #runs = new Runs();
  /** The least recently learned first. */
  readonly #known: BoundedMap<string, Known>;
  /** Held here, because the server holds its listeners only weakly. */
  readonly #onChange = (change: ServerChange): void => {
    const isStale = (one: { readonly method: string; readonly uri: unknown }): boolean =>
      concerns(change, one);
    this.#entries.dropWhere(isStale);
    this.#runs.outdate(({ call: { method, params } }) => isStale({ method, uri: params['uri'] }));
  };

  constructor(parts: KeptResultsParts) {
    this.#parts = parts;
    this.#entries = new Entries(parts.limits);
    this.#known = new BoundedMap(parts.limits.maxEntries);
    parts.server?.onChange(this.#onChange);
  }

  /** Answers a call with the result of an earlier one, with that of the same call that is running, or by making it. */
  async answer(call: Call, next: Dispatch, ttlMs: number): Promise<Outcome> {
    const { server, ownerOf } = this.#parts;
    const freshness = server?.freshness(call) ?? 'stated';
    const plainKey = freshness === 'never' ? undefined : callKeyOf(call);
    if (plainKey === undefined) return next(call);
    const variant = server?.variant(call);
    const callKey = variant === undefined ? plainKey : `${plainKey}\n${await variant}`;
    // The rules decide about every call, before anything is looked up. A caller that they refuse gets the refusal from the call.
    const admission = server === undefined ? '' : await server.admission(call);
    if (admission === undefined) return next(call);
    const owner = ownerOf(call);
    const context = owner && `${owner.context}\n${admission}`;
    let told: ToldProgress | undefined;
    for (;;) {
      const { facts, isPublic } = this.#known.get(callKey) ?? NOTHING;
      const keys = keysOf(call, callKey, { owner: context, facts });
      const kept = (keys.own && this.#entries.get(keys.own)) || this.#entries.get(keys.shared);
      if (kept) return outcomeOf(kept);
      told ??= new ToldProgress(call);
      const runKey = isPublic ? keys.shared : keys.own;
      const running = runKey === undefined ? undefined : this.#runs.find(runKey, call);
      if (running === undefined)
        return this.#run(told.toRun(), next, { callKey, owner, context, runKey, ttlMs, freshness });
      const isSameCaller = context !== undefined && running.parts.context === context;
      const end = await running.wait(call, told, isSameCaller);
      if (end.kind === 'left') continue;
      if (!running.isLike(call) || end.kind === 'alone') return next(told.toRun());
      if (end.kind === 'result' && (end.isPublic || isSameCaller)) return JSON.parse(end.json) as Outcome;
      if (end.kind === 'error' && isSameCaller) throw end.error;
      return next(told.toRun());
    }
  }

  /** Drops everything that is kept for a caller alone: one of its calls may have changed it. */
  forget(call: Call): void {
    const owner = this.#parts.ownerOf(call);
    if (owner === undefined) return;
    this.#entries.dropOwned(owner.name);
    this.#runs.outdate((run) => run.owner === owner.name);
  }

  async #run(call: Call, next: Dispatch, place: Place): Promise<Outcome> {
    const { owner, context, runKey: key } = place;
    const isHeard = this.#hearsChanges();
    const { run, finish } = this.#runs.begin({ call, key, owner: owner?.name, context });
    try {
      const outcome = await next(run.observed.call);
      run.end(this.#end(run, outcome, { place, isHeard }));
      return outcome;
    } catch (error) {
      run.end({ kind: 'error', error });
      throw error;
    } finally {
      finish();
    }
  }

  /** Keeps the outcome of a run, if that is allowed, and says what those get that wait for it. */
  #end(
    run: SharedRun,
    outcome: Outcome,
    { place, isHeard }: { readonly place: Place; readonly isHeard: boolean },
  ): RunEnd {
    const { call } = run.parts;
    const { facts: read, hasNotified } = run.observed;
    // A handler whose call was cancelled may have returned a part of its result.
    if (outcome.resultType !== 'complete' || hasNotified || hasEnded(call) || hasOwnLink(outcome))
      return ALONE;
    const json = print(outcome);
    if (json === undefined) return ALONE;
    const isFailure = outcome['isError'] === true;
    const isPublic = !isFailure && (outcome['cacheScope'] ?? this.#parts.cacheScope) === 'public';
    const keepMs = isFailure ? 0 : keepMsOf(outcome, place);
    if (keepMs > 0 && !run.isStale && isHeard && this.#hearsChanges()) {
      const known = this.#known.get(place.callKey) ?? NOTHING;
      const facts = [...new Set([...known.facts, ...read])].sort();
      if (facts.length <= MAX_FACTS) this.#keep(call, json, { ...place, facts, isPublic, keepMs });
    }
    return { kind: 'result', json, isPublic };
  }

  #keep(call: Call, json: string, place: Place & Known & { readonly keepMs: number }): void {
    const { callKey, owner, facts, isPublic, keepMs, context } = place;
    const keys = keysOf(call, callKey, { owner: context, facts });
    const key = isPublic ? keys.shared : keys.own;
    if (key === undefined) return;
    this.#learn(callKey, { facts, isPublic });
    const { method, params } = call;
    this.#entries.set(key, {
      json,
      keepMs,
      method,
      keptAt: now(),
      uri: params['uri'],
      owner: isPublic ? undefined : owner?.name,
    });
  }

  #learn(callKey: string, known: Known): void {
    this.#known.delete(callKey);
    if (known.facts.length === 0 && !known.isPublic) return;
    this.#known.set(callKey, known);
  }

  #hearsChanges(): boolean {
    return this.#parts.server?.hearsChanges() ?? true;
  }
}

// The `ttlMs` of a result counts, unless it is only the default of a definition that does not say it.
function keepMsOf({ ttlMs: own }: Outcome, { ttlMs, freshness }: Place): number {
  if (own === undefined || freshness === 'open') return ttlMs;
  return typeof own === 'number' && own > 0 ? Math.min(own, ttlMs) : 0;
}

/** Whether a change makes a result stale. A definition that was replaced may have other results, whatever its name. */
function concerns(
  change: ServerChange,
  { method, uri }: { readonly method: string; readonly uri: unknown },
): boolean {
  switch (change.kind) {
    case 'everything':
      return true;
    case 'resource':
      return method === 'resources/read' && uri === change.uri;
    case 'tools':
      return method.startsWith('tools/');
    case 'events':
      return method.startsWith('events/');
    case 'prompts':
    case 'resources':
      return method.startsWith(`${change.kind}/`) || method === 'completion/complete';
    default:
      return change satisfies never;
  }
}

// `outputBudget` has shortened the result: the link is for its caller alone, and may expire at any time.
function hasOwnLink({ content }: Outcome): boolean {
  return (
    Array.isArray(content) &&
    content.some((block: unknown) => isObject(block) && !!readOutputUri(block['uri']))
  );
}

function print(outcome: Outcome): string | undefined {
  try {
    return JSON.stringify(outcome);
  } catch {
    return undefined;
  }
}
