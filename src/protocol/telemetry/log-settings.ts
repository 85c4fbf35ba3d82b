import { isLogLevel, type LogLevel } from '../tables/log-level.js';

// The level and the form of the log for the operator.

/** The forms of a log: lines for a person, or lines of JSON for a program. */
export const logFormats = ['json', 'text'] as const;

/** The form of a log: `text` for a person, `json` for a program. */
export type LogFormat = (typeof logFormats)[number];

/** The settings of a log. */
export interface LogSettings {
  /** The least severe level that is logged. */
  readonly level: LogLevel;
  readonly format: LogFormat;
}

/** Whether a value is the name of a form. */
export function isLogFormat(value: unknown): value is LogFormat {
  return (logFormats as readonly unknown[]).includes(value);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `MCP_LOG_LEVEL` and `MCP_LOG_FORMAT`. Throws a RangeError that names the variable if one is wrong. */
export function logSettingsOf(env: Environment): Partial<LogSettings> {
  const { MCP_LOG_LEVEL: level, MCP_LOG_FORMAT: format } = env;
  if (level && !isLogLevel(level))
    throw new RangeError('The environment variable MCP_LOG_LEVEL must be a level, from debug to emergency.');
  if (format && !isLogFormat(format))
    throw new RangeError('The environment variable MCP_LOG_FORMAT must be json or text.');
  return { ...(level && { level: level as LogLevel }), ...(format && { format: format as LogFormat }) };
}
