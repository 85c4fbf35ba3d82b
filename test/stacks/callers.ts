// The callers of a stack. Everything that one of them receives is kept as text, so that it can be searched.

import { setMaxListeners } from 'node:events';
import type { Dispatch, McpError } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { toAuth } from '../../src/protocol/caller.js';
import { copyCall } from '../../src/protocol/direct.js';
import type { Who } from './reference-server.js';
import type { WireSpec } from './spec.js';

type Json = Record<string, unknown>;

/** The end of a call. */
export type Reaction =
  | { readonly result: Json; readonly text: string }
  | { readonly code: string; readonly message: string; readonly data: unknown; readonly text: string };

interface RequestOptions {
  /** More features of the client. */
  readonly capabilities?: Json;
  /** Returns the questions instead of answering them. */
  readonly mustNotAnswer?: boolean;
  readonly signal?: AbortSignal;
  readonly onNotification?: (method: string, params: Json) => void;
}

/** One caller, connected to the top of a stack. */
export interface Caller {
  readonly who: Who;
  readonly request: (method: string, params: Json, options?: RequestOptions) => Promise<Reaction>;
  /** The URLs that the user was asked to open. */
  readonly visited: string[];
  readonly close: () => Promise<void>;
}

export const TASKS = 'io.modelcontextprotocol/tasks';
const CAPABILITIES: Json = { elicitation: { form: {}, url: {} } };
const { signal: never } = new AbortController();
setMaxListeners(0, never);

/** Connects a caller. */
export async function connectCaller(dispatch: Dispatch, who: Who, wire: WireSpec): Promise<Caller> {
  const auth = who === 'nobody' ? undefined : toAuth({ subject: who });
  // Callers are not local: no rule applies to those.
  const own: Dispatch = (call) => dispatch(copyCall(call, { auth, isLocal: undefined }));
  return wire === 'raw' ? rawCaller(own, who) : clientCaller(own, who, wire);
}

function rawCaller(dispatch: Dispatch, who: Who): Caller {
  let last = 0;
  const visited: string[] = [];
  async function request(method: string, params: Json, options: RequestOptions = {}): Promise<Reaction> {
    const { capabilities = {}, mustNotAnswer = false, signal = never, onNotification } = options;
    const received: unknown[] = [];
    const peer = {
      revision: '2026-07-28',
      // All of them use the same program, so that nothing but the caller tells their calls apart.
      client: { name: 'program', version: '1' },
      capabilities: { ...CAPABILITIES, ...capabilities },
      logLevel: undefined,
    } as never;
    const notify = (name: string, content: Json = {}): void => {
      received.push(content);
      onNotification?.(name, content);
    };
    try {
      let round = params;
      for (let rounds = 0; ; rounds++) {
        const outcome = (await dispatch({
          id: `${who} ${++last}`,
          method,
          params: structuredClone(round) as never,
          peer,
          signal,
          notify: notify as never,
        })) as Json;
        received.push(outcome);
        if (outcome['resultType'] !== 'input_required' || mustNotAnswer || rounds > 4)
          return { result: outcome, text: print(received) };
        const { inputRequests, requestState } = outcome as { inputRequests: Json; requestState?: string };
        const inputResponses = Object.fromEntries(
          Object.entries(inputRequests ?? {}).map(([key, asked]) => [
            key,
            answer(asked as Json, who, visited),
          ]),
        );
        round = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) };
      }
    } catch (error) {
      return failure(error, received);
    }
  }
  return { who, request, visited, close: async () => undefined };
}

/** The answer of a caller to a question: each says its own name. */
export function answer({ params }: Json, who: Who, visited: string[]): Json {
  const { mode, url, requestedSchema } = params as {
    mode?: string;
    url?: string;
    requestedSchema?: { properties?: Json };
  };
  if (mode === 'url') {
    visited.push(String(url));
    return { action: 'accept' };
  }
  const isApproval = Object.hasOwn(requestedSchema?.properties ?? {}, 'approve');
  return { action: 'accept', content: isApproval ? { approve: true } : { name: `~${who}~` } };
}

async function clientCaller(dispatch: Dispatch, who: Who, wire: WireSpec): Promise<Caller> {
  const [over, year] = wire.split(' ') as [never, string | undefined];
  const visited: string[] = [];
  const client = await testClient({ dispatch }, {
    over,
    ...(year === '2025' && { revision: '2025-11-25' }),
    maxRetries: 0,
    elicit: {
      form: ({ schema }: { schema: Json }) =>
        answer({ params: { requestedSchema: schema } }, who, visited) as never,
      url: ({ url }: { url: string }) => answer({ params: { mode: 'url', url } }, who, visited) as never,
    },
  } as never);
  return {
    who,
    visited,
    async request(method, params) {
      const before = client.received.length;
      try {
        const result = (await client.request(method, structuredClone(params) as never)) as Json;
        return { result, text: print([result, client.received.slice(before)]) };
      } catch (error) {
        return failure(error, client.received.slice(before));
      }
    },
    close: () => client.close(),
  };
}

function failure(error: unknown, received: unknown[]): Reaction {
  const { code, message, data } = error as McpError;
  if (code === undefined) throw error;
  return { code, message, data, text: print([received, code, message, data]) };
}

const print = (value: unknown): string => JSON.stringify(value) ?? '';
