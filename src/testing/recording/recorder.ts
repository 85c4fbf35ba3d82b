// `recorder`: middleware that records calls.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import { toMcpError } from '../../protocol/errors.js';
import { type Entry, HEADER, without } from './recording.js';
import { Secrets } from './secrets.js';

/** The options of a recorder. */
export interface RecorderOptions {
  /**
   * More names of fields whose values are replaced by `***`. Always replaced: fields whose names end like `password`, `token`, `secret`,
   * `apiKey`, `authorization`, `cookie` or `credentials`, and those that a schema marks with `writeOnly`, `format: 'password'` or
   * `x-secret`. Case, `_` and `-` do not matter.
   */
  readonly redact?: readonly string[];
  /** Secrets that are replaced by `[redacted]` wherever they appear, of 6 characters or more. Default: none. */
  readonly secrets?: readonly string[];
  /** Called with each new line, the header included: to append it to a file. */
  readonly onLine?: (line: string) => void;
  /** Whether `recording` has the lines. Pass false for a long recording whose lines `onLine` writes. Default: true. */
  readonly keep?: boolean;
}

const optionTable = {
  redact: 'strings',
  secrets: 'strings',
  onLine: 'function',
  keep: { is: 'boolean', default: true },
} as const satisfies OptionTable<RecorderOptions>;

/** Middleware that records calls, for the option `use` of a server or a client. */
export interface Recorder extends Middleware {
  /** The recording so far, as a string for `replay`. */
  readonly recording: string;
}

/** Makes middleware that records calls, notifications, outcomes and errors: one line of JSON each. */
export function recorder(options: RecorderOptions = {}): Recorder {
  const read = readOptions('recorder', options, optionTable);
  const { redact = [], secrets: values = [], onLine, keep } = read;
  const secrets = new Secrets(redact, values);
  const start = performance.now();
  const lines: string[] = [];
  let last = 0;

  function write(line: string): void {
    if (keep) lines.push(line);
    onLine?.(line);
  }

  write(JSON.stringify({ ...HEADER, ...(redact.length > 0 && { redact }) }));

  let capabilities = '{}';
  function changedCapabilities({ peer }: Call): Pick<Entry, 'capabilities'> {
    const now = JSON.stringify(peer.capabilities);
    if (now === capabilities) return {};
    capabilities = now;
    return { capabilities: peer.capabilities as JsonObject };
  }

  async function recorder(call: Call, next: Parameters<Middleware>[1]): ReturnType<Middleware> {
    const number = ++last;
    const { method, params, notify } = call;
    const record = (event: Omit<Entry, 'call' | 'at'>): void => {
      const names = secrets.learnFrom(event);
      if (names.length > 0) write(JSON.stringify({ redact: names }));
      const at = Math.round(performance.now() - start);
      write(JSON.stringify({ call: number, at, ...secrets.without(event) }));
    };
    record({ method, params: without(params, '_meta'), ...changedCapabilities(call) });
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
