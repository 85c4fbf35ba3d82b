import process from 'node:process';
import { printLine } from '../../../jsonrpc/ndjson.js';
import { Backlog, isBehind } from '../../server/backlog.js';

/** The real standard output, for messages only. */
export interface ReservedStdout {
  /** Queues a line that the client did not ask for; the lines of one turn of the event loop leave in one write. */
  readonly send: (line: string) => void;
  /** Queues an answer. Answers wait for a client that is busy. */
  readonly reply: (line: string) => void;
  /** Whether so much is unread that nothing more should be read from the client. */
  readonly full: () => boolean;
  /** Resolves when everything that was queued has left. */
  readonly flushed: () => Promise<void>;
  readonly restore: () => void;
}

export interface ReservedStdoutOptions {
  readonly maxBufferedBytes: number;
  /** The client has left more than `maxBufferedBytes` unread that it did not ask for. Later messages are dropped. */
  readonly onUnread: () => void;
}

/** Takes standard output for the protocol: `console.log` and stray writes go to standard error instead of into a message. */
export function reserveStdout({ maxBufferedBytes, onUnread }: ReservedStdoutOptions): ReservedStdout {
  const { stdout, stderr } = process;
  const write = stdout.write;
  // Without a listener, a stray write after the client has closed this end too would crash the process.
  stderr.on('error', ignore);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const buffered = (): number => stdout.writableLength + queued.length;
  const backlog = new Backlog(buffered, maxBufferedBytes);
  const fullAt = Math.min(FULL_AT, maxBufferedBytes);
  let queued = '';
  let lost = false;

  function flush(): void {
    const text = queued;
    queued = '';
    if (stdout.writable && !lost) write.call(stdout, text, 'utf8');
  }

  function queue(text: string): void {
    if (queued === '') process.nextTick(flush);
    queued += text;
  }

  return {
    send(line) {
      if (lost) return;
      if (backlog.isFull) {
        lost = true;
        return onUnread();
      }
      const text = printLine(line);
      backlog.addUnsolicited(text.length);
      queue(text);
    },
    reply(line) {
      if (lost) return;
      const text = printLine(line);
      backlog.addResponse(text.length);
      queue(text);
    },
    full: () => isBehind(buffered(), fullAt),
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

/**
 * From so many unread bytes on, no further requests are read. Not fewer: a client that writes all its requests before it reads
 * the first answer would wait forever for a server that waits for it.
 */
const FULL_AT = 16 * 1024 * 1024;

function ignore(): void {
  // There is nowhere left to say it.
}
