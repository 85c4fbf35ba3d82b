// Log messages of a server, on stderr.

import type { ClientOptions, LogMessage } from '../../client/model/options.js';
import { type LogLevel, logLevels } from '../../protocol/tables/log-level.js';
import { cleanLine } from '../../tooling/clean.js';
import type { Options, Typed } from '../command/definition.js';

const MAX_LINE = 4000;

export const LOG_OPTIONS: Options = {
  log: {
    type: 'string',
    value: 'level',
    choices: logLevels,
    help: 'print log messages of the server from this level: debug, info, notice, warning, error, …',
  },
};

/** The options of `connect` that print log messages as lines of stderr, if they were asked for. */
export function logTo(input: Typed): Pick<ClientOptions, 'onLog' | 'logLevel'> {
  const level = input.text('log');
  if (level === undefined) return {};
  return {
    logLevel: level as LogLevel,
    onLog: (message) => input.out.aside(logLine(message)),
  };
}

/** A log message on one line. */
export function logLine({ level, logger, data }: LogMessage): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  return cleanLine(`${level}${logger ? ` ${logger}` : ''}: ${text}`, MAX_LINE);
}
