// Makes the calls of a tape again, against another server, and compares the results.

import type { InProcess } from '../../index.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isSafe } from '../../protocol/tables/methods.js';
import type { RecordedCall, Recording } from '../../testing/recording/recording.js';
import { lacksSecret } from '../../testing/recording/secrets.js';
import { type CompareOptions, compareValues, type ValueChange } from './compare-values.js';
import { withSecrets } from './fill-secrets.js';
import { PAGED, wholeList } from './whole-list.js';

export interface TapeReplayOptions extends CompareOptions {
  /** Whether a tool may be called that does not say that it only reads. */
  readonly mayCall: (tool: string) => boolean;
  /** The values of secret fields, by name, which a tape does not have. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type Replayed = { readonly call: RecordedCall } & (
  | { readonly result: 'same' }
  | { readonly result: 'different'; readonly differences: readonly ValueChange[] }
  | { readonly result: 'skipped'; readonly reason: string }
);

const MAX_PAGES = 1000;
/** They belong to the connection, or to ids that another server does not know. */
const UNREPEATABLE = /^(?:initialize|ping|logging\/|subscriptions\/|tasks\/|resources\/(?:un)?subscribe$)/;
const FATAL = new Set(['connect_failed', 'connection_closed', 'unauthorized', 'unsupported_version']);

/** Makes the calls of a tape one after another, in their order. */
export async function* replayCalls(
  { calls, secrets }: Recording,
  requestAs: (capabilities: JsonObject) => InProcess,
  options: TapeReplayOptions,
): AsyncGenerator<Replayed> {
  const states = new Map<unknown, unknown>();
  const recordedTools = new Map(calls.flatMap(({ outcome }) => toolsIn(outcome?.['tools'])));
  const firstCall = calls.find(({ method }) => method === 'tools/call');
  const tools = new Map(toolsIn(firstCall ? await fetchList('tools/list', firstCall.capabilities) : []));

  for (const call of calls) {
    const params = withState(withSecrets(call.params, options.secrets));
    const reason = params === undefined ? NOT_ASKED : reasonToSkip(call, params);
    if (reason !== undefined) yield { call, result: 'skipped', reason };
    else if (!(PAGED.has(call.method) && call.params['cursor'] !== undefined)) {
      const differences = await compareCall(call, params as JsonObject);
      yield differences.length === 0 ? { call, result: 'same' } : { call, result: 'different', differences };
    }
  }

  function reasonToSkip(
    { method, params, outcome, error }: RecordedCall,
    sent: JsonObject,
  ): string | undefined {
    if (UNREPEATABLE.test(method)) return 'it belongs to its connection';
    if (outcome === undefined && error === undefined) return 'the tape has no result of it';
    if (lacksSecret(sent)) return 'the tape does not have its secrets (--secret name=value gives them)';
    if (method === 'tools/call' ? isHarmless(String(params['name'])) : isSafe(method)) return undefined;
    return 'it may change something (--allow-effects sends it)';
  }

  // Both must say so: neither an old tape nor new code alone decides what is harmless.
  function isHarmless(name: string): boolean {
    if (options.mayCall(name)) return true;
    const [now, then] = [tools.get(name), recordedTools.get(name)];
    // A tool that is gone answers with an error, and changes nothing.
    if (now === undefined) return true;
    return isReadOnly(now) && (then === undefined || isReadOnly(then));
  }

  async function compareCall(call: RecordedCall, params: JsonObject): Promise<readonly ValueChange[]> {
    const list = PAGED.get(call.method);
    if (list !== undefined && call.outcome) {
      const now = { [list]: await fetchList(call.method, call.capabilities) };
      return compareValues({ [list]: wholeList(call, calls) }, secrets.without(now), options);
    }
    const after = await send(call, params);
    if (call.outcome && isObject(after['outcome']))
      states.set(call.outcome['requestState'], after['outcome']['requestState']);
    const before = call.outcome ? { outcome: call.outcome } : { error: call.error };
    return compareValues(shown(call, before), secrets.without(shown(call, after)), options);
  }

  async function send({ method, capabilities }: RecordedCall, params: JsonObject): Promise<JsonObject> {
    try {
      return { outcome: await requestAs(capabilities)(method, params, { signal: limit() }) };
    } catch (error) {
      options.signal.throwIfAborted();
      if (!McpError.is(error) || FATAL.has(error.code)) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  async function fetchList(method: string, capabilities: JsonObject): Promise<readonly unknown[]> {
    const request = requestAs(capabilities);
    const items: unknown[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const outcome = await request(method, params, { signal: limit() }).catch((error: unknown) => {
        if (McpError.is(error) && error.code === 'method_not_found') return {} as JsonObject;
        throw error;
      });
      const found = outcome[PAGED.get(method) ?? ''];
      if (Array.isArray(found)) items.push(...found);
      cursor = outcome['nextCursor'];
      if (typeof cursor !== 'string') break;
    }
    return items;
  }

  /** The parameters with the state of this server; undefined if this server did not ask. */
  function withState(params: JsonObject): JsonObject | undefined {
    if (params['requestState'] === undefined) return params;
    const requestState = states.get(params['requestState']);
    return requestState === undefined ? undefined : { ...params, requestState };
  }

  function limit(): AbortSignal {
    return AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
  }
}

const NOT_ASKED = 'it answers a question that was not asked this time';

/** The parts of a result that are compared. */
function shown({ method }: RecordedCall, { outcome, error }: JsonObject): JsonObject {
  if (isObject(error)) return { error: { code: error['code'], message: error['message'] } };
  if (!isObject(outcome)) return {};
  if (method !== 'server/discover') return outcome;
  const { capabilities, instructions } = outcome;
  return { capabilities, instructions };
}

function toolsIn(list: unknown): readonly (readonly [string, JsonObject])[] {
  if (!Array.isArray(list)) return [];
  return list.filter(isObject).map((tool) => [String(tool['name']), tool] as const);
}

function isReadOnly({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations['readOnlyHint'] === true;
}
