// Tapes: recordings that the page opened, and the calls in them made again.

import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { type Recording, readRecording } from '../../testing/recording/recording.js';
import { replayCalls } from '../../tooling/tape/replay-calls.js';
import type { TapeCall, TapeReplayView, TapeView } from '../contract/tape.js';
import { actionOf, request } from './actions.js';
import type { InspectedConnection } from './connection/connection.js';

const MAX_TAPE = 64 * 1024 * 1024;
const MAX_TAPES = 10;
const MAX_SHOWN = 2000;
const TIMEOUT_MS = 60_000;

interface Tape {
  readonly view: TapeView;
  readonly recording: Recording;
}

export class Tapes {
  readonly #tapes = new Map<string, Tape>();
  #last = 0;

  get views(): readonly TapeView[] {
    return [...this.#tapes.values()].map(({ view }) => view);
  }

  import(name: string, text: string): TapeView {
    if (text.length > MAX_TAPE) throw new McpError('invalid_params', 'A tape may have 64 MB at most.');
    if (this.#tapes.size >= MAX_TAPES)
      throw new McpError('overloaded', `There are ${MAX_TAPES} tapes already. Close one first.`);
    const recording = read(text);
    const id = `t${++this.#last}`;
    const times = timesIn(text);
    const view = {
      id,
      name: name.slice(0, 200),
      calls: recording.calls.map((call, at): TapeCall => {
        const own = call.params[nameParam(call.method) ?? ''];
        return {
          method: call.method,
          ...(typeof own === 'string' && { name: own }),
          params: call.params,
          notifications: call.notifications.map(({ method, params }) => ({
            method,
            ...(params && { params }),
          })),
          ...(call.outcome && { outcome: call.outcome }),
          ...(call.error && { error: { ...call.error } }),
          at: times[at]?.at ?? 0,
          ...(times[at]?.ms !== undefined && { ms: times[at].ms }),
          ...(times[at]?.youMs !== undefined && { youMs: times[at].youMs }),
        };
      }),
    };
    this.#tapes.set(id, { view, recording });
    return view;
  }

  close(id: string): void {
    if (!this.#tapes.delete(id)) throw unknown(id);
  }

  /** Makes the calls again. Each is a story of its own. */
  async replay(
    id: string,
    connection: InspectedConnection,
    allow: readonly string[],
  ): Promise<TapeReplayView> {
    const tape = this.#tapes.get(id);
    if (tape === undefined) throw unknown(id);
    const allowed = new Set(allow);
    const calls: TapeReplayView['calls'][number][] = [];
    const replayed = replayCalls(
      tape.recording,
      () =>
        (method, params = {}) =>
          send(connection, method, params),
      {
        ignore: [],
        strict: false,
        mayCall: (tool) => allowed.has(tool),
        secrets: new Map(),
        timeoutMs: TIMEOUT_MS,
        signal: new AbortController().signal,
      },
    );
    for await (const one of replayed) {
      const call = tape.recording.calls.indexOf(one.call);
      if (one.result === 'same') calls.push({ call, result: 'same' });
      else if (one.result === 'skipped') calls.push({ call, result: 'skipped', reason: forPage(one.reason) });
      else
        calls.push({
          call,
          result: 'different',
          differences: one.differences.map(({ path, before, after }) => ({
            path,
            ...(before !== undefined && { before: shown(before) }),
            ...(after !== undefined && { after: shown(after) }),
          })),
        });
    }
    return { calls };
  }
}

/** Sends a request as a story, and returns its outcome. */
function send(connection: InspectedConnection, method: string, params: JsonObject): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    request(connection, actionOf(method, params), params, { resolve, reject });
  });
}

/** The reasons name the options of the command. */
function forPage(reason: string): string {
  return reason.replace(/ \(--[^)]{1,100}\)/, '');
}

function read(text: string): Recording {
  try {
    return readRecording(text);
  } catch (error) {
    throw new McpError('invalid_params', error instanceof Error ? error.message : 'This is not a tape.');
  }
}

interface CallTimes {
  readonly at: number;
  ms?: number;
  youMs?: number;
}

/** When each call began, and how long it took. The recording itself does not keep that. */
function timesIn(text: string): readonly CallTimes[] {
  const calls = new Map<unknown, CallTimes>();
  for (const line of text.split('\n').slice(1)) {
    const entry = parsed(line);
    const { call, at, method, outcome, error, youMs } = entry;
    if (typeof at !== 'number') continue;
    if (typeof method === 'string') calls.set(call, { at });
    const begun = calls.get(call);
    if (begun === undefined || (outcome === undefined && error === undefined)) continue;
    const you = typeof youMs === 'number' && youMs > 0 ? youMs : 0;
    begun.ms = Math.max(0, at - begun.at - you);
    if (you > 0) begun.youMs = you;
  }
  return [...calls.values()];
}

function parsed(line: string): JsonObject {
  return tryParseObject(line) ?? {};
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, MAX_SHOWN);
}

function unknown(id: string): McpError {
  return new McpError('invalid_params', `There is no tape ${id.slice(0, 40)}.`);
}
