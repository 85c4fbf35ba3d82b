import { assertJson } from '../../protocol/encoding/json-value.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { Log } from './context.js';

/** A function for each level, all of which say it in the same way. */
export function logOf(say: (level: LogLevel, data: unknown, logger: string | undefined) => void): Log {
  const at =
    (level: LogLevel) =>
    (data: unknown, logger?: string): void =>
      say(level, data, logger);
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
 * What is sent of the data. Whether anybody listens is the client's choice, so that data which JSON cannot carry must not end a
 * tool: an error is sent as its text, and of anything else what is wrong with it.
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
  logged = 0;

  constructor(sent: number) {
    this.#sent = sent;
  }

  /** Counts a message; false if an earlier round has sent it. */
  isNew(): boolean {
    return ++this.logged > this.#sent;
  }
}
