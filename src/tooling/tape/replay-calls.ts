// Makes the calls of a tape again, against another server, and compares the results.

import type { InProcess } from '../../index.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { calledTools } from '../../protocol/model/search/search-tools.js';
import { isSafe } from '../../protocol/tables/methods.js';
import type { RecordedCall, Recording } from '../../testing/recording/recording.js';
import { lacksSecret, REMOVED } from '../../testing/recording/secrets.js';
import { type CompareOptions, compareValues, type ValueChange } from './compare-values.js';

export interface TapeReplayOptions extends CompareOptions {
  /** Whether a tool may be called that does not say that it only reads. Also asked about methods that the protocol does not define. */
  readonly mayCall: (name: string) => boolean;
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
  const recordedTools = toolsIn(calls.flatMap(({ outcome }) => outcome?.['tools'] ?? []));
  /** The tools that the server lists for a client with these capabilities. */
  const listed = new Map<string, Promise<ListedTools>>();

  for (const call of calls) {
    const params = withState(withSecrets(call.params, options.secrets));
    const reason = params === undefined ? NOT_ASKED : await reasonToSkip(call, params);
    if (reason !== undefined) yield { call, result: 'skipped', reason };
    else if (!(PAGED.has(call.method) && call.params['cursor'] !== undefined)) {
      const differences = await compareCall(call, params as JsonObject);
      yield differences.length === 0 ? { call, result: 'same' } : { call, result: 'different', differences };
    }
  }

  async function reasonToSkip(
    { method, capabilities, outcome, error }: RecordedCall,
    sent: JsonObject,
  ): Promise<string | undefined> {
    if (UNREPEATABLE.test(method)) return 'it belongs to its connection';
    if (outcome === undefined && error === undefined) return 'the tape has no result of it';
    if (lacksSecret(sent)) return 'the tape does not have its secrets (--secret name=value gives them)';
    if (method === 'tools/call') return reasonOfTool(sent, capabilities);
    return isSafe(method) || options.mayCall(method) ? undefined : MAY_CHANGE;
  }

  // Both must say so: neither an old tape nor new code alone decides what is harmless.
  async function reasonOfTool(params: JsonObject, capabilities: JsonObject): Promise<string | undefined> {
    const tools = await listFor(capabilities);
    for (const name of calledTools(params, tools)) {
      if (options.mayCall(name)) continue;
      const [now, then] = [tools.get(name), recordedTools.get(name)];
      // A server may answer calls of tools that it does not list: of those that only a search finds, for example.
      if (now === undefined) return NOT_LISTED;
      if (!now || then === false) return MAY_CHANGE;
    }
    return undefined;
  }

  function listFor(capabilities: JsonObject): Promise<ListedTools> {
    const key = JSON.stringify(capabilities);
    const known = listed.get(key) ?? fetchList('tools/list', capabilities).then(toolsIn);
    listed.set(key, known);
    return known;
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

/** Whether each tool of a list says that it only reads. */
type ListedTools = ReadonlyMap<string, boolean>;

const MAY_CHANGE = 'it may change something (--allow-effects sends it)';
const NOT_LISTED = 'the server does not list it, so it may change something (--allow-effects sends it)';
const NOT_ASKED = 'it answers a question that was not asked this time';

/** The parts of a result that are compared. */
function shown({ method }: RecordedCall, { outcome, error }: JsonObject): JsonObject {
  if (isObject(error)) return { error: { code: error['code'], message: error['message'] } };
  if (!isObject(outcome)) return {};
  if (method !== 'server/discover') return outcome;
  const { capabilities, instructions } = outcome;
  return { capabilities, instructions };
}

// A tool that is listed twice, or in two versions, only reads if each of them says so.
function toolsIn(list: unknown): ListedTools {
  const tools = new Map<string, boolean>();
  for (const tool of Array.isArray(list) ? list.filter(isObject) : []) {
    const name = String(tool['name']);
    tools.set(name, isReadOnly(tool) && tools.get(name) !== false);
  }
  return tools;
}

function isReadOnly({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations['readOnlyHint'] === true;
}

/** A copy in which each removed value of a field with one of these names is there again. */
function withSecrets(params: JsonObject, secrets: ReadonlyMap<string, string>): JsonObject {
  return secrets.size === 0 ? params : (fill(params, '', secrets) as JsonObject);
}

function fill(value: unknown, name: string, secrets: ReadonlyMap<string, string>): unknown {
  if (value === REMOVED) return secrets.get(name) ?? value;
  if (Array.isArray(value)) return value.map((item) => fill(item, name, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, fill(inner, field, secrets)]),
  );
}

/** The methods that return a list in pages, and the name of the list. */
const PAGED: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

/** The list that a call begins, with the pages that other calls fetched. */
function wholeList(first: RecordedCall, all: readonly RecordedCall[]): readonly unknown[] {
  const list = PAGED.get(first.method) ?? '';
  const items: unknown[] = [];
  const pages = new Set<RecordedCall>();
  for (let page: RecordedCall | undefined = first; page && !pages.has(page); ) {
    pages.add(page);
    const found: unknown = page.outcome?.[list];
    if (Array.isArray(found)) items.push(...found);
    const cursor: unknown = page.outcome?.['nextCursor'];
    page =
      typeof cursor === 'string'
        ? all.find(({ method, params }) => method === first.method && params['cursor'] === cursor)
        : undefined;
  }
  return items;
}
