// The options with which the inspector connects.

import type { ConnectOptions } from '../../../connect/targets/options.js';
import { readLoggedError } from '../../../tooling/process-output.js';
import { ShownPart } from '../../../transports/stdio/client/last-lines.js';
import { readJournalLine } from '../../journal/journal-line.js';
import type { Askers } from '../../stories/asking.js';
import type { Wiretap } from '../../wiretap/wiretap.js';
import type { ConnectionState } from './connection-state.js';
import { handlersOf } from './handlers.js';

const MAX_MESSAGE = 64 * 1024 * 1024;
/** A person watches the call and can stop it, and may have stopped the server at a breakpoint. */
const TIMEOUT_MS = 600_000;

export function clientOptions(
  connection: ConnectionState,
  tap: Wiretap,
  signal: AbortSignal,
): ConnectOptions {
  const { init, authorization, tape, logLevel, requestedRevision } = connection;
  const { opened, shared, id } = init;
  const { book, asking, taskResults, version } = shared;
  const { fetch: _, revision: __, ...options } = opened.options;

  function askers(): Askers {
    const own = tap.scope.isBackground ? undefined : book.get(tap.scope.story);
    return own === undefined ? book.askers(id) : [own];
  }

  return {
    timeoutMs: TIMEOUT_MS,
    maxTimeoutMs: Number.POSITIVE_INFINITY,
    maxMessageBytes: MAX_MESSAGE,
    ...options,
    ...authorization.options,
    ...handlersOf({ asking, askers, roots: () => connection.roots }),
    client: { name: 'fullmcp-inspector', title: 'The inspector of fullmcp', version },
    use: [
      tape.middleware(() => {
        const own = book.get(tap.scope.story);
        return { bytes: own?.rounds.at(-1)?.bytesIn ?? 0, youMs: Math.round(own?.clock.totalMs ?? 0) };
      }),
      taskResults.middleware(() => tap.scope),
      ...(options.use ?? []),
    ],
    // Everything that the page asks for is to be seen on the wire.
    cache: false,
    reconnect: true,
    signal: options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]),
    stderr: (line) => takeLine(connection, line),
    ...(logLevel && { logLevel }),
    ...(requestedRevision && { revision: requestedRevision }),
  };
}

/** Takes a line of a server's stderr: a report of its journal, or text. Errors of the connection must not show a report. */
export function takeLine({ id, init, mask }: ConnectionState, line: string): ShownPart {
  const { shared, opened } = init;
  const { journalMark } = opened;
  const { event, text } = journalMark === undefined ? { text: line } : readJournalLine(journalMark, line);
  if (event !== undefined) shared.journal(event);
  if (text === undefined) return new ShownPart(undefined);
  const masked = mask(text);
  const error = readLoggedError(masked);
  const shown = error === undefined ? masked : `${error.what}: ${error.title}`;
  shared.log(id, { source: 'stderr', text: shown, ...(error && { error, level: 'error' }) });
  const [only, ...others] = shared.book.runningCalls(id);
  if (only !== undefined && others.length === 0)
    only.tick({ at: Date.now(), kind: 'stderr', text: shown.slice(0, 300) });
  return new ShownPart(text);
}
