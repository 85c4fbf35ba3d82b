import { isBehind } from '../../../async/unread.js';
import { printLine } from '../../../jsonrpc/ndjson.js';
import { Backlog } from '../../server/backlog.js';

/** Standard output, for messages only. */
export interface ReservedStdout {
  /** Queues a message that the client did not ask for. The lines of one turn of the event loop are sent in one write. */
  readonly send: (line: string) => void;
  /** Queues a response. Responses wait for a client that is busy. */
  readonly sendResponse: (line: string) => void;
  /** Sends the lines that `work` queues in one write, as soon as it has returned. */
  readonly inOneWrite: (work: () => void) => void;
  /** Whether so much is unread that reading from the client should pause. */
  readonly isFull: () => boolean;
  /** Resolves when all queued lines are sent. */
  readonly flush: () => Promise<void>;
  readonly restore: () => void;
}

export interface ReservedStdoutOptions {
  readonly maxBufferedBytes: number;
  /** Called when the client has left more than `maxBufferedBytes` of unsolicited messages unread. Later messages are dropped. */
  readonly onUnread: () => void;
}

/** Reserves standard output for messages: `console.log` and other writes go to standard error, not into a message. */
export function reserveStdout({ maxBufferedBytes, onUnread }: ReservedStdoutOptions): ReservedStdout {
  const { stdout, stderr } = process;
  const write = stdout.write;
  // Without a listener, a write to standard error after the client has closed it would crash the process.
  stderr.on('error', ignore);
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  const buffered = (): number => stdout.writableLength + queued.length;
  const backlog = new Backlog(buffered, maxBufferedBytes);
  const fullAt = Math.min(FULL_AT, maxBufferedBytes);
  let queued = '';
  let isLost = false;
  /** Whether the queue is written when the current work returns. */
  let isInWork = false;

  function writeQueue(): void {
    const text = queued;
    queued = '';
    if (text !== '' && stdout.writable && !isLost) write.call(stdout, text, 'utf8');
  }

  function queue(text: string): void {
    if (queued === '' && !isInWork) process.nextTick(writeQueue);
    queued += text;
  }

  return {
    send(line) {
      if (isLost) return;
      if (backlog.isFull) {
        isLost = true;
        return onUnread();
      }
      const text = printLine(line);
      backlog.addUnsolicited(text.length);
      queue(text);
    },
    sendResponse(line) {
      if (isLost) return;
      const text = printLine(line);
      backlog.addResponse(text.length);
      queue(text);
    },
    inOneWrite(work) {
      isInWork = true;
      try {
        work();
      } finally {
        isInWork = false;
        writeQueue();
      }
    },
    isFull: () => isBehind(buffered(), fullAt),
    flush: () =>
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
 * Above this number of unread bytes, no further requests are read. It must be large: if a client writes all its requests before
 * it reads the first response, a server that stopped reading too early would wait for it forever.
 */
const FULL_AT = 16 * 1024 * 1024;

function ignore(): void {
  // There is nowhere left to report it.
}
