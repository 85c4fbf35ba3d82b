// The entry `fullmcp/stdio`: serves on standard input and output.

import { environmentSecrets } from './adapters/node/config/environment.js';
import { channelSession } from './legacy/server/channel-session.js';
import { type OptionTable, readOptions } from './protocol/checks/options.js';
import { checkRuntime } from './protocol/checks/runtime.js';
import { logSettingsOf } from './protocol/telemetry/log-settings.js';
import type { CoreServer } from './server/build/core-server.js';
import { type StdioOptions, type StdioServing, serveOverStdio } from './transports/stdio/server/serve.js';

checkRuntime();

export type { StdioOptions, StdioServing } from './transports/stdio/server/serve.js';

const optionTable = {
  maxMessageBytes: { is: 'number', default: 16 * 1024 * 1024 },
  maxBufferedBytes: { is: 'number', default: 64 * 1024 * 1024 },
  maxOpenCalls: { is: 'number', default: 1000 },
  drainMs: { is: 'timer', default: 1000 },
  closeMs: { is: 'timer', default: 500 },
  exit: { is: 'boolean', default: true },
} as const satisfies OptionTable<StdioOptions>;

/**
 * Serves one client on standard input and output, in any revision. The process exits when the client has disconnected.
 * `console.log` writes to standard error from then on, so that it cannot break the protocol.
 *
 * @example
 * const server = createServer({ name: 'math', version: '1.0.0', tools: { add } });
 * serveStdio(server);
 */
export function serveStdio(
  server: Pick<CoreServer, 'dispatch' | 'close' | 'logger'> &
    Partial<Pick<CoreServer, 'drain' | 'provideSecret'>>,
  options: StdioOptions = {},
): StdioServing {
  const settings = readOptions('serveStdio', options, optionTable);
  const { process } = globalThis;
  // The logger reads them later, and must not throw.
  logSettingsOf(process.env);
  const { dispatch, close, logger: log } = server;
  return serveOverStdio(
    {
      dispatch,
      session: (send) => channelSession(dispatch, send, { isBridged: true }),
      // Claude Code has one name in the terminal, in Claude Desktop and elsewhere, and shows questions in some of them only.
      entryPoint: process.env['CLAUDE_CODE_ENTRYPOINT'],
      secrets: environmentSecrets(process.env),
      provideSecret: (secrets) => server.provideSecret?.(secrets),
      drain: server.drain,
      onClose: close,
      onProblem: (message, error) => log('error', message, error),
    },
    settings,
  );
}
