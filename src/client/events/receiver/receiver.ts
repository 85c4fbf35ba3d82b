// Puts a receiver together: its subscriptions, and its answers to webhooks.

import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { type OptionTable, readOptions } from '../../../protocol/checks/options.js';
import { McpError } from '../../../protocol/errors.js';
import type { WebhookRequest } from '../../../protocol/events/receiving.js';
import { readSecret } from '../../../protocol/events/signature.js';
import type { ReceivedEvent } from '../../model/events.js';
import { Answering } from './answering.js';
import { memoryEventStore } from './memory-store.js';
import type {
  ReceiverOptions,
  SubscribeWebhookOptions,
  SubscribingClient,
  WebhookSource,
  WebhookSubscription,
} from './model.js';
import { WebhookRecords } from './records.js';
import { Subscribing } from './subscribing.js';

const optionTable = {
  onEvent: { is: 'function', required: true },
  onGap: 'function',
  onTerminated: 'function',
  onProblem: 'function',
  secret: ['string', 'strings'],
  store: 'object',
} as const satisfies OptionTable<ReceiverOptions>;

const webhookTable = {
  url: { is: ['string', 'object'], required: true },
  ttlMs: { is: 'ms', oneOf: [null] },
} as const satisfies OptionTable<SubscribeWebhookOptions>;

type Problem = Parameters<NonNullable<ReceiverOptions['onProblem']>>[0];

/** A receiver, before it has handlers for the requests of a runtime. */
export interface ReceiverCore {
  readonly answer: (request: WebhookRequest) => Promise<void>;
  readonly problem: (message: string, cause?: unknown) => void;
  readonly subscribe: (
    client: SubscribingClient,
    name: string,
    args: object,
    options: SubscribeWebhookOptions,
  ) => Promise<WebhookSubscription>;
  readonly close: () => Promise<void>;
}

/** Makes a receiver. */
export function makeReceiver(options: ReceiverOptions): ReceiverCore {
  const {
    onEvent,
    onGap = () => {},
    onTerminated = () => {},
    onProblem = print,
    store = memoryEventStore(),
    secret = [],
  } = readOptions('receiver', options, optionTable);
  const secrets = typeof secret === 'string' ? [secret] : [...secret];
  if (secrets.some((each) => readSecret(each) === undefined))
    throw new TypeError(
      'receiver: "secret" must be "whsec_" and the base64 of 24 to 64 random bytes, or an array of such strings.',
    );
  const records = new WebhookRecords(store);
  const open = new Map<string, Subscribing>();

  function problem(message: string, cause?: unknown): void {
    try {
      onProblem(cause === undefined ? { message } : { message, cause });
    } catch {
      // The program could not take the report of a problem: there is nobody else to tell.
    }
  }

  /** Tells the program something that no sender waits for. */
  async function tell(what: string, work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      problem(`The ${what} of a receiver threw`, error);
    }
  }

  const answering = new Answering({
    records,
    secrets,
    onEvent: (event: ReceivedEvent, source) => onEvent(event, source),
    onGap,
    async onTerminated(error, source, ref) {
      const subscribing = ref === undefined ? undefined : open.get(ref);
      if (subscribing?.terminated(error)) return;
      await onTerminated(error, source);
    },
    problem,
  });

  async function subscribe(
    client: SubscribingClient,
    name: string,
    args: object,
    given: SubscribeWebhookOptions,
  ): Promise<WebhookSubscription> {
    const { url, ttlMs } = readOptions('receiver.subscribe', given, webhookTable);
    if (!isObject(args))
      throw new McpError('invalid_params', 'receiver.subscribe needs the arguments of the events, an object');
    const source = (id: string): WebhookSource => ({
      id,
      subscription: { server: client.info().target, name, args: args as JsonObject },
    });
    const subscribing: Subscribing = new Subscribing({
      client,
      name,
      args,
      url,
      ttlMs,
      secret: secrets[0],
      records,
      onGap: (cursor, id) => void tell('onGap', () => onGap(cursor, source(id))),
      onTerminated: (error, id) => void tell('onTerminated', () => onTerminated(error, source(id))),
      problem,
      onEnd() {
        if (open.get(subscribing.ref) === subscribing) open.delete(subscribing.ref);
      },
    });
    // A second call continues the same subscription: only one refreshes it.
    await open.get(subscribing.ref)?.close();
    open.set(subscribing.ref, subscribing);
    return subscribing.start();
  }

  return {
    answer: (request) => answering.answer(request),
    problem,
    subscribe,
    async close() {
      await Promise.all([...open.values()].map((each) => each.close()));
    },
  };
}

function print({ message, cause }: Problem): void {
  console.error(message, cause);
}
