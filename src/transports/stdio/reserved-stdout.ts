import process from 'node:process';
import { printLine } from '../../jsonrpc/ndjson.js';

/** The real standard output, for messages only. */
export interface ReservedStdout {
  /** Queues a line; the lines of one turn of the event loop leave in one write. */
  readonly send: (line: string) => void;
  /** Resolves when everything that was queued has left. */
  readonly flushed: () => Promise<void>;
  readonly restore: () => void;
}

export interface ReservedStdoutOptions {
  readonly maxBufferedBytes: number;
  /** The client has left more than `maxBufferedBytes` unread. What comes now is dropped. */
  readonly onUnread: () => void;
}

/** Takes standard output for the protocol: `console.log` and stray writes go to standard error instead of into a message. */
export function reserveStdout({ maxBufferedBytes, onUnread }: ReservedStdoutOptions): ReservedStdout {
  const { stdout, stderr } = process;
  const write = stdout.write;
  // Without a listener, a stray write after the client has closed this end too would crash the process.
  stderr.on('error', ignore);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  let queued = '';

  function flush(): void {
    const text = queued;
    queued = '';
    if (!stdout.writable) return;
    // What lay there before counts: a message that is large in itself is no sign that nobody reads.
    if (stdout.writableLength > maxBufferedBytes) onUnread();
    else write.call(stdout, text, 'utf8');
  }

  return {
    send(line) {
      if (queued === '') process.nextTick(flush);
      queued += printLine(line);
    },
    flushed: () =>
      new Promise((resolve) => {
        process.nextTick(() => {
          if (!stdout.writable) resolve();
          else write.call(stdout, '', 'utf8', () => resolve());
        });
      }),
    restore() {
      stdout.write = write;
      stderr.off('error', ignore);
    },
  };
}

function ignore(): void {
  // There is nowhere left to say it.
}
