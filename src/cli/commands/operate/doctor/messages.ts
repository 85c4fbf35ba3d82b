// The requests that the examination sends, and the responses in their replies.

import { fullmcp } from '../../../../client/model/options.js';
import { isObject, type JsonObject, printRequest, readMessage } from '../../../../jsonrpc/message.js';
import { MAX_HTTP_REPLY_DEPTH, parseJson } from '../../../../jsonrpc/parse.js';
import { fromWire, type McpError } from '../../../../protocol/errors.js';
import { withPeer } from '../../../../protocol/meta.js';
import { modernRevisions, newestSession } from '../../../../protocol/tables/features.js';
import type { Revision } from '../../../../protocol/tables/revisions.js';
import { type Examination, type ExaminedReply, type Request, send } from './exchange.js';

/** The newest revision. */
export const MODERN: Revision = modernRevisions[0] as Revision;

const POSTED = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** The response to a request of ours: a result, an error, or something that is not MCP. */
type Answer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: McpError }
  | { readonly kind: 'none' };

export interface AnsweredProbe {
  readonly reply: ExaminedReply;
  readonly answer: Answer;
}

/** How a request differs from the usual one. */
export type Different = Pick<Request, 'isEnough' | 'timeoutMs'> & {
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the headers of the user are left out. */
  readonly isAnonymous?: boolean;
};

/** Sends a request of the newest revision, which needs no session. */
export function askModern(
  at: Examination,
  method: string,
  params: JsonObject,
  different: Different = {},
): Promise<AnsweredProbe> {
  const peer = { client: fullmcp, capabilities: {}, revision: MODERN, logLevel: undefined };
  const headers = { 'mcp-protocol-version': MODERN, 'mcp-method': method };
  return post(at, printRequest(1, method, withPeer(params, peer)), headers, different);
}

/** Opens a session. The reply has its id. */
export function askForSession(at: Examination, different: Different = {}): Promise<AnsweredProbe> {
  const params = { protocolVersion: newestSession, capabilities: {}, clientInfo: fullmcp };
  return post(at, printRequest(1, 'initialize', params), {}, different);
}

/** Ends the session of a reply, which was only opened to look at it. */
export async function endSession(at: Examination, reply: ExaminedReply): Promise<void> {
  const session = reply.header('mcp-session-id');
  if (session === undefined) return;
  const headers = { ...at.headers, 'mcp-session-id': session };
  await send(at, { method: 'DELETE', headers, timeoutMs: 2000 }).catch(() => undefined);
}

async function post(
  at: Examination,
  body: string,
  own: Readonly<Record<string, string>>,
  { headers, isAnonymous = false, isEnough = isResponse, timeoutMs }: Different,
): Promise<AnsweredProbe> {
  const reply = await send(at, {
    method: 'POST',
    headers: { ...(isAnonymous ? {} : at.headers), ...POSTED, ...own, ...headers },
    body,
    isEnough,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  return { reply, answer: answerOf(reply) };
}

function isResponse(data: string): boolean {
  return read(data).kind !== 'none';
}

function answerOf({ body, events }: ExaminedReply): Answer {
  const all = events.length > 0 ? events : [body];
  return all.map(read).find(({ kind }) => kind !== 'none') ?? { kind: 'none' };
}

function read(text: string): Answer {
  const value = parseJson(text, MAX_HTTP_REPLY_DEPTH);
  if (!isObject(value)) return { kind: 'none' };
  const message = readMessage(value);
  if (message.kind === 'result' && isObject(message.result))
    return { kind: 'result', result: message.result };
  if (message.kind !== 'error') return { kind: 'none' };
  return { kind: 'error', error: fromWire(message.error) };
}
