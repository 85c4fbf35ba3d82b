/** The syslog severities, least severe first. */
export const logLevels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

/** The severity of a log message, as in syslog: `debug` is the least severe, `emergency` the most. */
export type LogLevel = (typeof logLevels)[number];

/** Whether a value is the name of a severity. */
export function isLogLevel(value: unknown): value is LogLevel {
  return (logLevels as readonly unknown[]).includes(value);
}

/** Whether `level` is as severe as `threshold`, or more. */
export function atLeast(level: LogLevel, threshold: LogLevel): boolean {
  return logLevels.indexOf(level) >= logLevels.indexOf(threshold);
}
