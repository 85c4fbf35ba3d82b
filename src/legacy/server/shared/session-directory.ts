import { settlesWithin } from '../../../async/deadline.js';
import type { JsonObject, RequestId } from '../../../jsonrpc/message.js';
import { McpError } from '../../../protocol/errors.js';
import { isLogLevel } from '../../../protocol/tables/log-level.js';
import type { Bus } from '../../../state/bus.js';
import type { Put, Store, StoreChange, StoreEntry } from '../../../state/store.js';
import { Topic } from '../../../state/topic.js';
import { type FactChange, initialFacts, type SessionFacts, withChange } from '../session-facts.js';
import { EndedSessions, type SessionSpan } from './ended-sessions.js';

// The facts that all processes know about a session, beyond its id.

/** The parts of a server that its processes share. */
export interface DirectoryParts {
  readonly store: Store;
  /** The bus; undefined if there is only one process. */
  readonly bus: () => Bus | undefined;
  /** Reports a problem to the operator. */
  readonly warn: (message: string) => void;
}

/** A message to the processes that may have a session in memory. */
export type SessionMessage =
  /** The session has ended. */
  | ({ readonly do: 'end'; readonly session: string } & SessionSpan)
  /** The log level or the subscriptions have changed. The change itself is left out if it is long. */
  | { readonly do: 'recall'; readonly session: string; readonly change?: FactChange }
  /** Another process has the session's GET stream now. */
  | { readonly do: 'listen'; readonly session: string }
  /** The client has cancelled a call. */
  | { readonly do: 'cancel'; readonly session: string; readonly id: RequestId; readonly reason?: string }
  /** The questions of a process that waits for the answers are answered. */
  | { readonly do: 'answered'; readonly session: string; readonly call: string };

/** A session as the directory needs it. */
export interface DirectoryKey extends SessionSpan {
  /** Identifies the session among all others; a group of the store. */
  readonly tag: string;
}

const MAX_TRIES = 10;
/** The longest time that a client waits for the bus, which other processes do not depend on. */
const MAX_TELL_MS = 1000;
/** Some buses carry only 8,000 bytes at a time. */
const MAX_TOLD_LENGTH = 1024;

/** The sessions that have ended, and what clients have set in theirs. */
export class SessionDirectory {
  /** Whether other processes use the same store. */
  readonly isShared: boolean;
  readonly topic: Topic<SessionMessage>;
  readonly #store: Store;
  readonly #ended = new EndedSessions();
  #hasFailed = false;

  constructor({ store, bus, warn }: DirectoryParts) {
    this.#store = store;
    this.isShared = bus() !== undefined;
    this.topic = new Topic({
      name: 'sessions',
      bus,
      onFailure: () => {
        if (!this.#hasFailed)
          warn(
            'The bus failed: until it works again, other processes hear of ended sessions a second later.',
          );
        this.#hasFailed = true;
      },
    });
  }

  /** Whether this process knows that a session has ended. */
  hasEnded(key: DirectoryKey): boolean {
    return this.#ended.has(key.tag, key);
  }

  /** Whether a session has ended in any process. False if the store cannot say. */
  async isOver(key: DirectoryKey): Promise<boolean> {
    return this.recall(key).then(
      (facts) => facts === undefined,
      () => false,
    );
  }

  /** The facts of a session; undefined if it has ended. */
  async recall(key: DirectoryKey): Promise<SessionFacts | undefined> {
    if (this.hasEnded(key)) return undefined;
    const entry = await this.#store.get(sessionKey(key));
    if (entry?.value['ended'] === true) {
      this.#ended.add(key.tag, key);
      return undefined;
    }
    const uris = entry?.value['hasUris'] === true ? await this.#store.get(urisKey(key)) : undefined;
    return toFacts(entry, uris);
  }

  /** Whether other processes may have changed a session since it was read: the bus may have lost their messages. */
  mayHaveChanged(readAt: number, withinMs: number): boolean {
    return this.isShared && performance.now() - readAt >= withinMs;
  }

  /** Reads something from the store. Rejects if the store fails. */
  async reach(): Promise<void> {
    await this.#store.get('session:none');
  }

  /** Changes the facts of a session. Returns them as they are for all processes. */
  async remember(key: DirectoryKey, change: FactChange): Promise<SessionFacts> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const entry = await this.#store.get(sessionKey(key));
      const uris = await this.#store.get(urisKey(key));
      const before = toFacts(entry, uris);
      const after = withChange(before, change);
      if (after === before) {
        // An attempt whose reply was lost may have made the change, and told nobody.
        await this.#tellAll({ do: 'recall', session: key.tag });
        return after;
      }
      const value = { ...entry?.value, logLevel: after.logLevel, hasUris: after.uris !== undefined };
      const changes: StoreChange[] = [put(sessionKey(key), value, { before: entry, key })];
      if (after.uris !== before.uris)
        changes.push(put(urisKey(key), { uris: after.uris as string[] }, { before: uris, key }));
      if ((await this.#store.write(changes)).ok) {
        await this.#tellAll({ do: 'recall', session: key.tag, ...told(change) });
        return after;
      }
    }
    throw new McpError('overloaded', 'The session is being changed by too many requests. Retry later.');
  }

  /** Ends a session for all processes, until its id expires. */
  async end(key: DirectoryKey): Promise<void> {
    // If the write fails, the client sends DELETE again, and this process must still know the session then.
    await this.#storeEnd(key);
    this.#ended.add(key.tag, key);
    const { tag, issuedAt, expiresAt } = key;
    await this.#tell({ do: 'end', session: tag, issuedAt, expiresAt });
  }

  async #storeEnd(key: DirectoryKey): Promise<void> {
    // Without other processes, the bounded memory of ended sessions is enough: the sessions of a day could fill a store in memory.
    const end: StoreChange = this.isShared
      ? { do: 'put', key: sessionKey(key), value: { ended: true }, ttlMs: lifeOf(key) }
      : { do: 'delete', key: sessionKey(key) };
    try {
      await this.#store.write([end, { do: 'delete', key: urisKey(key) }]);
    } catch (error) {
      // If only the reply was lost, the next DELETE finds no session, and nobody else ends its streams.
      this.topic.publish({ do: 'recall', session: key.tag });
      throw error;
    }
  }

  // The client's next request goes to another process: the message should be on its way before the client has its response. False if
  // the bus did not carry it in time.
  async #tell(message: SessionMessage): Promise<boolean> {
    const telling = this.topic.publish(message);
    return telling === undefined || ((await settlesWithin(telling, MAX_TELL_MS, { unref: true })) && telling);
  }

  // The process with the session's stream may get no request for long. If it cannot be told, and this process ends before the bus
  // works again, it would never know.
  async #tellAll(message: SessionMessage): Promise<void> {
    if (!this.isShared || (await this.#tell(message))) return;
    throw new McpError(
      'overloaded',
      'The change is stored, but not all processes could be told. Retry later.',
    );
  }

  /** Notes that another process has ended a session. */
  noteEnd({ session, issuedAt, expiresAt }: Extract<SessionMessage, { do: 'end' }>): void {
    this.#ended.add(session, { issuedAt, expiresAt });
  }
}

function sessionKey({ tag }: DirectoryKey): string {
  return `session:${tag}`;
}

function urisKey({ tag }: DirectoryKey): string {
  return `uris:${tag}`;
}

function toFacts(entry: StoreEntry | undefined, uris: StoreEntry | undefined): SessionFacts {
  const logLevel = entry?.value['logLevel'];
  return {
    logLevel: isLogLevel(logLevel) ? logLevel : initialFacts.logLevel,
    uris: uris?.value['uris'] as readonly string[] | undefined,
  };
}

function put(
  name: string,
  value: JsonObject,
  { before, key }: { readonly before: StoreEntry | undefined; readonly key: DirectoryKey },
): Put {
  return {
    do: 'put',
    key: name,
    value,
    if: before === undefined ? 'absent' : { version: before.version },
    ttlMs: lifeOf(key),
  };
}

function told(change: FactChange): { readonly change?: FactChange } {
  return JSON.stringify(change).length <= MAX_TOLD_LENGTH ? { change } : {};
}

function lifeOf({ expiresAt }: DirectoryKey): number {
  return Math.max(1, expiresAt - Date.now());
}
