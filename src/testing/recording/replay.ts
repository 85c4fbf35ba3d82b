// A dispatch that answers from a recording.

import { callEnded } from '../../async/lifetime.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import type { ServerCapabilities } from '../../protocol/model/model.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { canonical } from '../../server/state/canonical.js';
import { type RecordedCall, type Recording, readRecording, redacted, without } from './recording.js';

/**
 * Answers from a recording. A call with the same method and parameters gets the recorded outcome; repeated calls get the
 * recorded outcomes in order, and then the last one again. A call that was not recorded fails.
 */
export function replay(text: string): Dispatch {
  const recording = readRecording(text);
  const recorded = new Map<string, RecordedCall[]>();
  for (const call of recording.calls) {
    const key = keyOf(call, recording);
    recorded.set(key, [...(recorded.get(key) ?? []), call]);
  }

  return async function replay(call) {
    const same = recorded.get(keyOf(call, recording));
    const found = same !== undefined && same.length > 1 ? same.shift() : same?.[0];
    if (found !== undefined) return again(found, call);
    if (call.method === 'server/discover') return discovered(recording);
    throw unrecorded(call, recording);
  };
}

function keyOf(call: Pick<Call, 'method' | 'params'>, { names }: Recording): string {
  return `${call.method} ${canonical(redacted(without(call.params, '_meta'), names))}`;
}

async function again({ method, notifications, outcome, error }: RecordedCall, call: Call): Promise<Outcome> {
  for (const said of notifications) call.notify(said.method, withToken(said.params, call));
  // A subscription was ended by the client; a call that never ended does not end here either.
  if (method === 'subscriptions/listen' || (outcome === undefined && error === undefined)) {
    await callEnded(call);
    throw new McpError('cancelled', 'The call was ended');
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
function discovered({ calls }: Recording): Outcome {
  const has = (prefix: string): boolean => calls.some(({ method }) => method.startsWith(prefix));
  const capabilities: ServerCapabilities = {
    ...(has('tools/') && { tools: {} }),
    ...(has('resources/') && { resources: {} }),
    ...(has('prompts/') && { prompts: {} }),
    ...(has('completion/') && { completions: {} }),
  };
  return { resultType: 'complete', supportedVersions: modernRevisions, capabilities };
}

const SHOWN = 20;

function unrecorded({ method, params }: Call, { calls, names }: Recording): McpError {
  const known = [...new Set(calls.map((recorded) => shown(recorded)))];
  const list = known.slice(0, SHOWN).join(', ') + (known.length > SHOWN ? ', …' : '');
  return new McpError(
    'invalid_request',
    `The recording has no call of ${shown({ method, params: redacted(params, names) as JsonObject })}. It has: ${list || 'nothing'}. Record it again, or add the lines.`,
  );
}

function shown({ method, params }: Pick<Call, 'method' | 'params'>): string {
  const name = params[nameParam(method) ?? ''];
  const args = params['arguments'];
  if (typeof name !== 'string') return method;
  return `${method} ${name}${isObject(args) ? ` ${shorten(args, 80)}` : ''}`;
}
