// The webhooks of a server with events: its types as deliveries see them, and its methods.

import { dialectOfCall } from '../../../protocol/event-failures.js';
import { eventMethods } from '../../../protocol/events/offer.js';
import type { CompiledEvent } from '../../../server/catalog/events.js';
import type { EventPluginParts } from '../../../server/handle/event-host.js';
import type { Histories } from '../histories.js';
import { concerns, readSubscription } from '../subscription.js';
import type { WebhookHost } from '../webhook-host.js';
import { digestOfSchemas } from './schema-change.js';
import type { WebhookType, WebhookTypes } from './types.js';
import { type WebhookParts, webhooks } from './webhooks.js';

/** Makes the webhooks of a server. */
export async function webhookHost(
  parts: EventPluginParts,
  { histories, safeFetch }: { readonly histories: Histories; readonly safeFetch: WebhookParts['safeFetch'] },
): Promise<WebhookHost> {
  const { server, store, log, secrets, leaseMs, complete, news } = parts;
  const types = new WebhookTypesOf(parts, histories);
  const hooks = await webhooks({
    ...{ server, store, log, secrets, leaseMs, types, safeFetch, options: parts.webhooks ?? {} },
    async enter(call) {
      const { type } = await readSubscription(call, 'webhook', parts);
      return types.of(type);
    },
  });
  news.subscribe({ message: hooks.onEvents, gap: hooks.onEvents });
  return {
    ...hooks,
    subscribe: async (call) => complete(await hooks.subscribe(call, dialectOfCall(call))),
    unsubscribe: async (call) => complete(await hooks.unsubscribe(call, dialectOfCall(call))),
    start() {
      void news.ready();
      hooks.start();
    },
  };
}

/** The types of a server that are delivered to webhooks. */
class WebhookTypesOf implements WebhookTypes {
  readonly #parts: EventPluginParts;
  readonly #histories: Histories;
  /** A type that is defined again is another object. */
  readonly #known = new WeakMap<CompiledEvent, Promise<WebhookType>>();

  constructor(parts: EventPluginParts, histories: Histories) {
    this.#parts = parts;
    this.#histories = histories;
  }

  async find(name: string): Promise<WebhookType | undefined> {
    const type = this.#parts.events.get(name);
    return type?.listed.delivery.includes('webhook') ? this.of(type) : undefined;
  }

  names(): readonly string[] {
    return [...this.#parts.events.values()]
      .filter(({ listed }) => listed.delivery.includes('webhook'))
      .map(({ name }) => name);
  }

  of(type: CompiledEvent): Promise<WebhookType> {
    const known = this.#known.get(type) ?? this.#make(type);
    this.#known.set(type, known);
    return known;
  }

  async #make(type: CompiledEvent): Promise<WebhookType> {
    const { name, listed, input, access } = type;
    const { gate, mayFollow } = this.#parts;
    const { inputSchema, payloadSchema = {} } = listed;
    const schemas = { inputSchema, payloadSchema };
    return {
      ...{
        name,
        ...schemas,
        digest: await digestOfSchemas(schemas),
        history: await this.#histories.of(name),
      },
      async read(args) {
        const checked = await input.validate(args);
        if (!checked.ok)
          throw new TypeError(`The arguments do not fit ${eventMethods.subscribe} of "${name}" any more`);
        return checked.value;
      },
      admits: async (auth, args) =>
        access === undefined || (await gate.judgeUse({ auth } as never, access, args)) === 'allowed',
      matches: (event, args, auth) => concerns({ type, args, caller: { auth } as never }, event, mayFollow),
    };
  }
}
