// `replay`: a dispatch that answers from a recording.

import { callEnded } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { canonical } from '../../protocol/canonical.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import type { ServerCapabilities } from '../../protocol/model/model.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { type RecordedCall, type Recording, readRecording, without } from './recording.js';

/**
 * Makes a `Dispatch` that answers from a recording. A call gets the outcome that was recorded for the same method and
 * parameters. Several such outcomes are returned in order, the last one again and again. A call that was not recorded fails.
 */
export function replay(text: string): Dispatch {
  const recording = readRecording(text);
  const callsByKey = new Map<string, RecordedCall[]>();
  for (const call of recording.calls) {
    const key = keyOf(call, recording);
    callsByKey.set(key, [...(callsByKey.get(key) ?? []), call]);
  }

  return async function replay(call) {
    const matches = callsByKey.get(keyOf(call, recording));
    const match = matches !== undefined && matches.length > 1 ? matches.shift() : matches?.[0];
    if (match !== undefined) return replayCall(match, call);
    if (call.method === 'server/discover') return discover(recording);
    throw notRecorded(call, recording);
  };
}

function keyOf(call: Pick<Call, 'method' | 'params'>, { secrets }: Recording): string {
  return `${call.method} ${canonical(secrets.without(without(call.params, '_meta')))}`;
}

async function replayCall(
  { method, notifications, outcome, error }: RecordedCall,
  call: Call,
): Promise<Outcome> {
  for (const { method: name, params } of notifications) call.notify(name, withToken(params, call));
  // A recorded subscription has no outcome of its own: the client ended it. A call without an outcome does not end here either.
  if (method === 'subscriptions/listen' || (outcome === undefined && error === undefined)) {
    await callEnded(call);
    throw new McpError('cancelled', 'The call was cancelled.');
  }
  if (outcome !== undefined) return outcome;
  const { code, message, ...rest } = error as NonNullable<typeof error>;
  throw new McpError(code, message, rest);
}

// A client recognizes the progress of a call by the token that it chose for that call.
function withToken(params: JsonObject | undefined, call: Call): JsonObject | undefined {
  const progress = progressToken(call.params);
  return params?.['progressToken'] === undefined || progress === undefined
    ? params
    : { ...params, progressToken: progress };
}

// A recording of a client's calls has no `server/discover`, which is sent before there is a client.
function discover({ calls }: Recording): Outcome {
  const has = (prefix: string): boolean => calls.some(({ method }) => method.startsWith(prefix));
  const capabilities: ServerCapabilities = {
    ...(has('tools/') && { tools: {} }),
    ...(has('resources/') && { resources: {} }),
    ...(has('prompts/') && { prompts: {} }),
    ...(has('completion/') && { completions: {} }),
  };
  return { resultType: 'complete', supportedVersions: modernRevisions, capabilities };
}

const MAX_LISTED = 20;

function notRecorded({ method, params }: Call, { calls, secrets }: Recording): McpError {
  const descriptions = [...new Set(calls.map(describeCall))];
  const list = descriptions.slice(0, MAX_LISTED).join(', ') + (descriptions.length > MAX_LISTED ? ', …' : '');
  return new McpError(
    'invalid_request',
    `The recording has no call of ${describeCall({ method, params: secrets.without(params) })}. It has: ${list || 'nothing'}. Record the calls again, or add the lines by hand.`,
  );
}

function describeCall({ method, params }: Pick<Call, 'method' | 'params'>): string {
  const name = params[nameParam(method) ?? ''];
  const args = params['arguments'];
  if (typeof name !== 'string') return method;
  return `${method} ${name}${isObject(args) ? ` ${shorten(args, 80)}` : ''}`;
}
