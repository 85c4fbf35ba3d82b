// `recorder`: middleware that records calls.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { checkOptions, type KeysOf } from '../../protocol/checks/known-keys.js';
import { toMcpError } from '../../protocol/errors.js';
import { type Entry, HEADER, printEntry, secretNames, without } from './recording.js';

/** The options of a recorder. */
export interface RecorderOptions {
  /**
   * More names of fields whose values are replaced by `***`. Always replaced: `authorization`, `token`, `accessToken`,
   * `refreshToken`, `password`, `secret`, `clientSecret` and `apiKey`. Case, `_` and `-` do not matter. Other names, such as
   * `cookie`, are not recognized.
   */
  readonly redact?: readonly string[];
  /** Called with each new line, the header included: to append it to a file. */
  readonly onLine?: (line: string) => void;
}

const optionKeys = { redact: true, onLine: true } satisfies KeysOf<RecorderOptions>;

/** Middleware that records calls, for the option `use` of a server or a client. */
export interface Recorder extends Middleware {
  /** The recording so far, as a string for `replay`. */
  readonly recording: string;
}

/** Makes middleware that records calls, notifications, outcomes and errors: one line of JSON each. */
export function recorder(options: RecorderOptions = {}): Recorder {
  checkOptions('recorder', options, optionKeys);
  const { redact = [], onLine } = options;
  const names = secretNames(redact);
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
    const record = (event: Omit<Entry, 'call' | 'at'>): void =>
      write(printEntry({ call: number, at: Math.round(performance.now() - start), ...event }, names));
    record({ method, params: without(params, '_meta') });
    let isOpen = true;
    const recordAndNotify = (name: string, content?: JsonObject): void => {
      if (isOpen) record({ notify: name, ...(content && { params: content }) });
      notify(name, content);
    };
    try {
      const outcome = await next({ ...call, notify: recordAndNotify });
      record({ outcome });
      return outcome;
    } catch (error) {
      const { code, message, data, number: wire } = toMcpError(error);
      record({
        error: {
          code,
          message,
          ...(data !== undefined && { data }),
          ...(wire !== undefined && { number: wire }),
        },
      });
      throw error;
    } finally {
      isOpen = false;
    }
  }

  return Object.defineProperty(recorder, 'recording', { get: () => `${lines.join('\n')}\n` }) as Recorder;
}
