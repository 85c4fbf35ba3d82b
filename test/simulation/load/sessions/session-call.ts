// A call of a session that asks: its questions are answered at any replica, and its stream is resumed at any replica.

import type { StreamEvent } from '../../cluster/http-exchange.js';
import type { ConsultArgs } from '../../cluster/tools.js';
import { answerTo, checkConsultation } from '../answers.js';
import { pauseBeforeRetry, type Session } from './session.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly message?: string; readonly level?: string; readonly data?: unknown };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const THINK_MS = 6000;
/** The time after which every process knows a setting, if nothing fails. */
const KNOWN_MS = 3000;
/** The time for which a process does not try its event log after a failure: a client that is connected elsewhere misses messages. */
const LOG_PAUSE_MS = 1000;

/** A call of a session, from its request to its response. */
export class SessionCall {
  readonly #session: Session;
  readonly #args: ConsultArgs;
  readonly #id: number;
  readonly #startedAt: number;
  readonly #asked = new Set<string>();
  /** The numbers of the messages that arrived. */
  readonly #messages: unknown[] = [];
  #lastEventId: string | undefined;
  #response: Message | undefined;
  #isCancelled = false;

  constructor(session: Session, args: ConsultArgs) {
    this.#session = session;
    this.#args = args;
    this.#id = session.nextId();
    this.#startedAt = session.client.world.scheduler.now;
  }

  /** Runs the call. Resolves when the client knows its outcome, or cannot find it out. */
  async run(): Promise<void> {
    const { client } = this.#session;
    for (let part = 1; part <= this.#args.parts; part++) client.ledger.calls.onSent(this.#args.id, part);
    if (client.world.random.chance(0.1)) this.#cancelLater();
    const params = { name: 'consult', arguments: { ...this.#args } };
    const request = { id: this.#id, method: 'tools/call', params };
    const onEvent = (event: StreamEvent): void => this.#onEvent(event);
    const reply = await this.#session.post(request, { timeoutMs: 600_000, onEvent });
    if ('status' in reply && reply.body !== undefined) this.#onMessage(JSON.parse(reply.body));
    while (this.#response === undefined && this.#lastEventId !== undefined && !this.#isOver) {
      await pauseBeforeRetry(client);
      await this.#resume(this.#lastEventId, onEvent);
    }
    if (this.#response !== undefined && !this.#isOver) this.#check(this.#response);
  }

  get #isOver(): boolean {
    return this.#isCancelled || this.#session.isEnding;
  }

  async #resume(lastEventId: string, onEvent: (event: StreamEvent) => void): Promise<void> {
    const { client } = this.#session;
    const reply = await this.#session.get(lastEventId, { onEvent });
    if (!('status' in reply) || reply.status !== 404 || this.#isOver) return;
    client.ledger.violate('event lost', `${this.#args.id} cannot be resumed after ${lastEventId}`);
    this.#isCancelled = true;
  }

  #onEvent({ id, data }: StreamEvent): void {
    this.#lastEventId = id ?? this.#lastEventId;
    if (data !== '') this.#onMessage(JSON.parse(data));
  }

  #onMessage(message: Message): void {
    const { method, id, params } = message;
    if (method === undefined) this.#response ??= message;
    else if (method === 'elicitation/create') void this.#answer(String(id), params?.message ?? '');
    else if (method === 'notifications/message') this.#onLog(params?.level, params?.data);
  }

  #onLog(level: string | undefined, data: unknown): void {
    if (level === 'error') return void this.#messages.push(data);
    const { client, level: own } = this.#session;
    const knownAt = Math.max(own?.since ?? 0, client.world.troubledUntil) + KNOWN_MS;
    if (own?.name === 'error' && knownAt < this.#startedAt)
      client.ledger.violate('log level forgotten', `${this.#args.id} got a message of level ${level}`);
  }

  async #answer(id: string, message: string): Promise<void> {
    // An event that could not be stored for sure may come twice.
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    const { client } = this.#session;
    const { random } = client.world;
    client.ledger.calls.secrets.push({ kind: 'question', id });
    await client.world.sleep(random.between(0, random.chance(0.2) ? 5 * THINK_MS : THINK_MS));
    const answer = { id, result: answerTo(client, message) };
    // Users press the button twice.
    if (random.chance(0.1)) void this.#session.post(answer);
    await this.#session.deliver(answer);
  }

  #cancelLater(): void {
    const { client } = this.#session;
    const { scheduler, random } = client.world;
    scheduler.after(random.between(100, 10_000), client.actor, () => {
      if (this.#response !== undefined) return;
      this.#isCancelled = true;
      const params = { requestId: this.#id };
      void this.#session.deliver({ method: 'notifications/cancelled', params });
    });
  }

  #check({ result, error }: Message): void {
    const { client } = this.#session;
    const { ledger } = client;
    const { id, isLoud, parts } = this.#args;
    if (result === undefined) {
      if (!ledger.calls.mayFail(this.#startedAt))
        ledger.violate('call failed', `${id}: ${JSON.stringify(error)}`);
      return;
    }
    checkConsultation(client, this.#args, result);
    const expected = isLoud ? Array.from({ length: parts }, (_, part) => part + 1) : [];
    if (JSON.stringify(this.#messages) !== JSON.stringify(expected)) {
      const hasLogFailed = ledger.calls.hasLogFailedSince(this.#startedAt - LOG_PAUSE_MS);
      if (!hasLogFailed && !ledger.calls.hasLostProcess(id))
        ledger.violate('event lost', `${id} got ${JSON.stringify(this.#messages)}`);
    }
  }
}
