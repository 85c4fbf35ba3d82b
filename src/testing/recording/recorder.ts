// Middleware that records calls.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { checkOptions, type KeysOf } from '../../protocol/checks/known-keys.js';
import { toMcpError } from '../../protocol/errors.js';
import { type Entry, HEADER, printEntry, redactedNames, without } from './recording.js';

/** The options of a recorder. */
export interface RecorderOptions {
  /**
   * Names of fields whose values are replaced by `***`, besides passwords, tokens, secrets, API keys and `authorization`. Case,
   * `_` and `-` do not matter.
   */
  readonly redact?: readonly string[];
  /** Called with each line as it is written, the header included, to append it to a file. */
  readonly onLine?: (line: string) => void;
}

const optionKeys = { redact: true, onLine: true } satisfies KeysOf<RecorderOptions>;

/** Middleware for the `use` of a server or a client, which records the calls that pass. */
export interface Recorder extends Middleware {
  /** The recording so far, as text for `replay`. */
  readonly recording: string;
}

/** Makes middleware that records calls, notifications, outcomes and errors: one line of JSON each. */
export function recorder(options: RecorderOptions = {}): Recorder {
  checkOptions('recorder', options, optionKeys);
  const { redact = [], onLine } = options;
  const names = redactedNames(redact);
  const start = performance.now();
  const lines: string[] = [];
  let last = 0;

  function write(line: string): void {
    lines.push(line);
    onLine?.(line);
  }

  write(JSON.stringify({ ...HEADER, ...(redact.length > 0 && { redact }) }));

  async function recorder(call: Call, next: Parameters<Middleware>[1]): ReturnType<Middleware> {
    const number = ++last;
    const { method, params, notify } = call;
    const note = (what: Omit<Entry, 'call' | 'at'>): void =>
      write(printEntry({ call: number, at: Math.round(performance.now() - start), ...what }, names));
    note({ method, params: without(params, '_meta') });
    let open = true;
    const heard = (name: string, said?: JsonObject): void => {
      if (open) note({ notify: name, ...(said && { params: said }) });
      notify(name, said);
    };
    try {
      const outcome = await next({ ...call, notify: heard });
      note({ outcome });
      return outcome;
    } catch (error) {
      const { code, message, data, number: wire } = toMcpError(error);
      note({
        error: {
          code,
          message,
          ...(data !== undefined && { data }),
          ...(wire !== undefined && { number: wire }),
        },
      });
      throw error;
    } finally {
      open = false;
    }
  }

  return Object.defineProperty(recorder, 'recording', { get: () => `${lines.join('\n')}\n` }) as Recorder;
}
