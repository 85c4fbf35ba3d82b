import type { ChildProcess } from 'node:child_process';
import { BoundedMap } from '../../../async/bounded-map.js';

/** More connections than this do not wait for one worker, unless Node tells us nothing about them. */
const MAX_WAITING = 10_000;

interface Closable {
  close(): void;
}

/**
 * Closes the connections that a worker was given and did not take before it ended.
 * Node's cluster module keeps them open and does nothing with them: their clients would wait forever.
 */
export function closeConnectionsWith(worker: ChildProcess): void {
  // By the numbers of the messages that handed them over. A worker confirms each of them with its number.
  const waiting = new BoundedMap<unknown, Closable>(MAX_WAITING);
  const send = worker.send;
  worker.send = function (this: ChildProcess, ...args: Parameters<typeof send>) {
    const [message, connection] = args as [{ act?: string; seq?: unknown }, unknown];
    if (message?.act === 'newconn' && isClosable(connection)) waiting.set(message.seq, connection);
    return send.apply(this, args);
  } as typeof send;
  worker.on('internalMessage' as 'message', (message) => {
    waiting.delete((message as { ack?: unknown } | null)?.ack);
  });
  worker.once('exit', () => {
    for (const connection of waiting.values()) connection.close();
    waiting.clear();
  });
}

function isClosable(value: unknown): value is Closable {
  return typeof (value as Closable | undefined)?.close === 'function';
}
