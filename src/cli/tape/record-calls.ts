// Middleware that records calls on a tape.

import type { Middleware } from '../../protocol/call.js';
import { recorder } from '../../testing/recording/recorder.js';
import type { TapeFile } from './tape-file.js';

const MAX_PAGES = 100;

export interface TapeRecorder {
  readonly record: Middleware;
  /** The number of calls so far: of tools, prompts, resources and the like. */
  readonly calls: number;
  /** The number of all requests so far, with those for lists. */
  readonly requests: number;
}

/** Records all calls on a tape, without the secrets that are known and those that can be recognized. */
export function recordCalls(
  tape: TapeFile,
  { redact, secrets }: { readonly redact: readonly string[]; readonly secrets: readonly string[] },
): TapeRecorder {
  const recorded = recorder({ redact, secrets, keep: false, onLine: (line) => tape.write(line) });
  let calls = 0;
  let requests = 0;
  let listed: Promise<void> | undefined;

  // The schemas say which arguments are secret, so they must be known before a call is written.
  async function listTools(call: Parameters<Middleware>[0], next: Parameters<Middleware>[1]): Promise<void> {
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      requests++;
      const outcome = await recorded(
        { ...call, method: 'tools/list', params, notify: () => undefined },
        next,
      );
      cursor = outcome['nextCursor'];
      if (typeof cursor !== 'string') return;
    }
  }

  return {
    get calls() {
      return calls;
    },
    get requests() {
      return requests;
    },
    async record(call, next) {
      if (call.method === 'tools/list') listed ??= Promise.resolve();
      if (call.method === 'tools/call') {
        listed ??= listTools(call, next).catch(() => undefined);
        await listed;
      }
      requests++;
      if (!isPreparation(call.method)) calls++;
      return recorded(call, next);
    },
  };
}

/** Whether a request only prepares others: a client sends it by itself. */
function isPreparation(method: string): boolean {
  return method.endsWith('/list') || ['server/discover', 'initialize', 'ping'].includes(method);
}
