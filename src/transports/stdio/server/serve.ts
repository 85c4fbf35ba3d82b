import { settlesWithin } from '../../../async/deadline.js';
import { LineReader } from '../../../jsonrpc/ndjson.js';
import type { Dispatch } from '../../../protocol/call.js';
import { randomSecret } from '../../../protocol/encoding/sealing.js';
import { type ChannelOptions, openChannel } from '../../server/channel.js';
import { decodeUtf8 } from '../decode.js';
import { type GoneReason, onClientGone } from './client-gone.js';
import { reserveStdout } from './reserved-stdout.js';

/** The options of `serveStdio`. */
export interface StdioOptions {
  /** The largest message that is read, in bytes; a larger one is dropped and answered with an error. Default: 16 MB. */
  readonly maxMessageBytes?: number;
  /**
   * A client that leaves more than this many bytes of unsolicited messages unread is disconnected. Responses wait: while the
   * client does not read them, nothing more is read from it. Default: 64 MB.
   */
  readonly maxBufferedBytes?: number;
  /**
   * The number of calls that may be open at the same time. At the limit, nothing more is read; if no call ends for a second,
   * further calls are rejected with `overloaded`. Default: 1,000.
   */
  readonly maxOpenCalls?: number;
  /** The time for open calls and steps of tasks to finish after the client has disconnected. Default: 1 s. */
  readonly drainMs?: number;
  /** The time for the lifespan and the last writes to end after that; then the process exits all the same. Default: 500 ms. */
  readonly closeMs?: number;
  /** Whether the process exits with the connection. Default: true. */
  readonly exit?: boolean;
}

/** A server that runs on standard input and output. */
export interface StdioServing {
  /** Resolves when the client has disconnected and everything is closed. */
  readonly closed: Promise<void>;
  /** Stops reading, lets open calls finish for `drainMs`, and closes the server. */
  readonly close: () => Promise<void>;
}

interface Parts {
  readonly dispatch: Dispatch;
  readonly session?: (send: (text: string) => void) => ChannelOptions['session'];
  /** The part of the client's program that has started this process; undefined if the environment does not say it. */
  readonly entryPoint: string | undefined;
  /** The secrets of the environment. */
  readonly secrets: readonly string[] | undefined;
  /** Takes the secret that seals the state of questions. */
  readonly provideSecret: (secrets: readonly string[] | (() => string)) => void;
  /** Lets work that no request waits for, such as the steps of tasks, finish beside the open calls. */
  readonly drain?: ((options: { readonly drainMs: number }) => Promise<void>) | undefined;
  /** Called when the last call has ended. */
  readonly onClose: () => Promise<void>;
  readonly onProblem: (message: string, error?: unknown) => void;
}

/** Serves one client on standard input and output. */
export function serveOverStdio(
  { dispatch, session, entryPoint, secrets, provideSecret, drain, onClose, onProblem }: Parts,
  settings: Required<StdioOptions>,
): StdioServing {
  const { maxMessageBytes, maxBufferedBytes, maxOpenCalls, drainMs, closeMs, exit } = settings;
  // A random secret is enough: sealed state need not outlive this process. It is made when it is used: loading `crypto` takes as long as a
  // tenth of the package.
  provideSecret(secrets ?? randomSecret);
  const stdout = reserveStdout({ maxBufferedBytes, onUnread: () => void close('lost') });
  const { send, sendResponse, isFull: outputFull } = stdout;
  let isReading = true;
  const input = {
    pause: () => void process.stdin.pause(),
    resume: () => {
      if (isReading) process.stdin.resume();
    },
  };
  const channel = openChannel({
    transport: 'stdio',
    entryPoint,
    dispatch,
    send,
    sendResponse,
    input,
    outputFull,
    maxOpenCalls,
    session: session?.(send),
    caller: { isLocal: true },
  });
  const reader = new LineReader({ maxBytes: maxMessageBytes, decode: decodeUtf8 });
  const stopWatching = onClientGone((why) => void close(why));

  function take(lines: ReturnType<LineReader['push']>): void {
    for (const line of lines) {
      if (!line.tooLong) channel.receive(line.text);
      else {
        const { ends } = line;
        const reason = `The message has more than ${maxMessageBytes} bytes and was dropped. Send less, or raise maxMessageBytes.`;
        channel.refuse(reason, ends?.isRequest ? ends.id : undefined);
      }
    }
  }

  const onData = (chunk: Buffer): void => stdout.inOneWrite(() => take(reader.push(chunk)));
  const onEnd = (): void => {
    const last = reader.end();
    if (last !== undefined) take([last]);
  };
  process.stdin.on('data', onData).once('end', onEnd);

  let resolveClosed!: () => void;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  let closing: Promise<void> | undefined;
  function close(why: GoneReason): Promise<void> {
    closing ??= shutDown(why).then(resolveClosed);
    return closing;
  }

  // In this order, each step with its own time limit: the calls, then the server and the unsent output, then the process.
  async function shutDown(why: GoneReason): Promise<void> {
    // The last line may arrive together with the end of the input.
    await nextImmediate();
    isReading = false;
    process.stdin.off('data', onData).off('end', onEnd);
    process.stdin.pause();
    const calls =
      why === 'lost' ? channel.abandon('The client went away') : channel.close({ deadlineMs: drainMs });
    // The steps of tasks may finish even if the client is lost.
    await Promise.all([calls, drain?.({ drainMs })]);
    // Handlers whose calls were ended see it before the process exits.
    await nextImmediate();
    await Promise.all([
      closeWithin(closeMs, onClose(), onProblem),
      closeWithin(closeMs, stdout.flush(), onProblem),
    ]);
    stdout.restore();
    stopWatching();
    if (exit) process.exit(process.exitCode ?? 0);
  }

  return { closed, close: () => close('finished') };
}

function nextImmediate(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function closeWithin(ms: number, work: Promise<void>, onProblem: Parts['onProblem']): Promise<void> {
  if (await settlesWithin(work, ms))
    await work.catch((error: unknown) => onProblem('The server failed to close', error));
}
