import type { LogLevel } from '../protocol/log-level.js';
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
