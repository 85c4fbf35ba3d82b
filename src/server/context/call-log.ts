import { assertJson } from '../../protocol/encoding/json-value.js';
import type { LogLevel } from '../../protocol/tables/log-level.js';
import type { ContextLog } from './context.js';

/** Makes the functions of `ctx.log`, one for each level. All of them call `send`. */
export function contextLog(
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
 * Converts the data of a log message to JSON. Data that JSON cannot represent must not end a tool, because the client decides
 * whether log messages are sent at all: an error is sent as a string, and any other such value as a description of the problem.
 */
export function toLogData(data: unknown): unknown {
  if (data === undefined) return null;
  try {
    assertJson(data, 'The data of this log message cannot be sent');
    return data;
  } catch (error) {
    return data instanceof Error ? String(data) : String(error);
  }
}

/** Counts the log messages of a run, those of its nested calls included. The first ones belong to earlier rounds. */
export class LogCount {
  readonly #before: number;
  total = 0;

  constructor(before: number) {
    this.#before = before;
  }

  /** Counts a message. Returns false if an earlier round has already logged it. */
  isNew(): boolean {
    return ++this.total > this.#before;
  }
}
