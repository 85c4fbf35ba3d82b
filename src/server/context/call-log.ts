import { assertJson } from '../../protocol/encoding/json-value.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { ContextLog } from './context.js';

/** A function for each level; all of them call `send`. */
export function logOf(
  send: (level: LogLevel, data: unknown, logger: string | undefined) => void,
): ContextLog {
  const at =
    (level: LogLevel) =>
    (data: unknown, logger?: string): void =>
      send(level, data, logger);
  return {
    debug: at('debug'),
    info: at('info'),
    notice: at('notice'),
    warning: at('warning'),
    error: at('error'),
    critical: at('critical'),
    alert: at('alert'),
    emergency: at('emergency'),
  };
}

/**
 * The data as it is sent. Only the client decides whether log messages are sent at all, so data that JSON cannot carry must not
 * end a tool: an error is sent as a string, and for other values a description of the problem is sent.
 */
export function loggable(data: unknown): unknown {
  if (data === undefined) return null;
  try {
    assertJson(data, 'The data of this log message cannot be sent');
    return data;
  } catch (error) {
    return data instanceof Error ? String(data) : String(error);
  }
}

/** Counts the log messages of a run, those of its inner calls included. The first ones were sent by earlier rounds. */
export class LogCount {
  readonly #sent: number;
  total = 0;

  constructor(sent: number) {
    this.#sent = sent;
  }

  /** Counts a message; false if an earlier round has sent it. */
  isNew(): boolean {
    return ++this.total > this.#sent;
  }
}
