// Standard input and output without a process.

import { LineReader, printLine } from '../../jsonrpc/ndjson.js';
import { channelSession } from '../../legacy/server/channel-session.js';
import type { Dispatch } from '../../protocol/call.js';
import type { Wire, WireEvents } from '../../transports/client/wire.js';
import { openChannel } from '../../transports/server/channel.js';
import { seeded } from '../faults/seeded.js';

// The reader takes everything at once, so nothing stays unread; anything above the limit waits in the channel.
const input = { pause: () => undefined, resume: () => undefined };

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * A server's pipes without its process. Both eras share one channel, as on a real pipe, and lines travel as bytes that are split
 * anywhere.
 */
export function memoryStdio(dispatch: Dispatch): Wire {
  const random = seeded(1);
  const send = (text: string): void => toClient.write(printLine(text));
  const channel = openChannel({
    transport: 'stdio',
    dispatch,
    send,
    input,
    session: channelSession(dispatch, send, { isBridged: true }),
    caller: { isLocal: true },
  });
  const toServer = new Pipe(random, (text) => channel.receive(text));
  let events: WireEvents | undefined;
  let early: string[] | undefined = [];
  const toClient = new Pipe(random, (text) => {
    if (early === undefined) events?.message(text);
    else early.push(text);
  });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    // Everything written before the end of the input is read.
    toServer.end();
    toClient.end();
    await channel.abandon('The client went away');
  }

  return {
    send: (text) => toServer.write(printLine(text)),
    start(receiver) {
      events = receiver;
      const messages = early ?? [];
      early = undefined;
      for (const text of messages) receiver.message(text);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** One direction. Writes arrive soon and in order, but split at other places. */
class Pipe {
  readonly #random: () => number;
  readonly #deliver: (text: string) => void;
  readonly #reader = new LineReader({ maxBytes: MAX_BYTES });
  readonly #encoder = new TextEncoder();
  #buffered = '';
  #isEnded = false;

  constructor(random: () => number, deliver: (text: string) => void) {
    this.#random = random;
    this.#deliver = deliver;
  }

  write(text: string): void {
    if (this.#isEnded) return;
    if (this.#buffered === '') queueMicrotask(() => this.#flush());
    this.#buffered += text;
  }

  end(): void {
    this.#flush();
    this.#isEnded = true;
  }

  #flush(): void {
    const bytes = this.#encoder.encode(this.#buffered);
    this.#buffered = '';
    for (let start = 0; start < bytes.length; ) {
      const end = start + 1 + Math.floor(this.#random() * Math.max(64, bytes.length - start));
      for (const line of this.#reader.push(bytes.slice(start, end))) {
        if (!line.tooLong && !this.#isEnded) this.#deliver(line.text);
      }
      start = end;
    }
  }
}
