// The bus on Postgres.

import type { Bus } from '../../state/bus.js';
import type { PostgresDatabase } from './database/database.js';
import { channelOf } from './listen-receiver.js';
import { type Receiver, Sender } from './signals.js';

/** Makes the sender of a database: over NOTIFY, or into the table that is polled. */
export function senderOf(database: PostgresDatabase, isListening: boolean): Sender {
  const { schema, statementTimeoutMs } = database;
  const notify = { name: 'notify', text: 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload' };
  const publish = { name: 'publish', text: `SELECT ${schema}.publish_1($1::text[], $2)` };
  return new Sender(async (payloads) => {
    if (isListening) await database.query(notify, [channelOf(schema), payloads]);
    else await database.query(publish, [payloads, statementTimeoutMs]);
  });
}

/** Makes a bus of a sender and a receiver, which it shares with the event log. */
export function postgresBus(sender: Sender, receiver: Receiver): Bus {
  let isClosed = false;
  const ends = new Set<() => void>();
  const checkOpen = (): void => {
    if (isClosed) throw new Error('The bus is closed.');
  };
  return {
    async publish(topic, message) {
      checkOpen();
      await sender.publish(topicOf(topic), message);
    },
    async subscribe(topic, listener) {
      checkOpen();
      await receiver.stands();
      checkOpen();
      const remove = receiver.topics.add(topicOf(topic), listener);
      const end = (): void => {
        ends.delete(end);
        remove();
      };
      ends.add(end);
      return end;
    },
    async close() {
      isClosed = true;
      for (const end of [...ends]) end();
    },
  };
}

// The event log uses the same channel, with a topic of its own.
function topicOf(topic: string): string {
  return `bus:${topic}`;
}
