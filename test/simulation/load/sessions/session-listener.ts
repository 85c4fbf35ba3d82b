// The stream of a session for messages that do not belong to a call.

import { type Listener, RESOURCE, TOOLS } from '../../checks/changes.js';
import { pauseBeforeRetry, type Session } from './session.js';

interface Notification {
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

/** Keeps the stream of a session open. When it breaks, it is resumed at any replica. */
export class SessionListener {
  readonly #session: Session;
  readonly #heard: Listener;
  #lastEventId: string | undefined;

  constructor(session: Session) {
    const { client } = session;
    this.#session = session;
    this.#heard = client.ledger.changes.newListener(`stream of ${client.actor.name}`);
  }

  async listen(): Promise<void> {
    const { client } = this.#session;
    while (!this.#session.isEnding) {
      await this.#session.get(this.#lastEventId, {
        onEvent: ({ id, data }) => {
          this.#lastEventId = id ?? this.#lastEventId;
          this.#heard.listen(TOOLS);
          if (data === '') return;
          const { method, params } = JSON.parse(data) as Notification;
          this.#heard.onNotification(method, params);
        },
      });
      await pauseBeforeRetry(client);
    }
    // Nobody listens any more.
    this.#heard.since.clear();
  }

  /** Subscribes to the resource. */
  async subscribe(): Promise<void> {
    const session = this.#session;
    const params = { uri: RESOURCE };
    const { status } = await session.deliver({ id: session.nextId(), method: 'resources/subscribe', params });
    if (status === 200 && this.#lastEventId !== undefined) this.#heard.listen(RESOURCE);
  }
}
