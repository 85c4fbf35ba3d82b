// The commands about events: following and polling a type, and operating those of a server of one's own.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { eventMethods } from '../../protocol/events/offer.js';
import { isNotOperated, operatorOf } from '../../tooling/operator/operator.js';
import { type DeliveriesView, webhookReplies } from '../contract/events.js';
import { request } from './actions.js';
import type { CommandParts, CommandTable } from './command-table.js';
import type { InspectedConnection } from './connection/connection.js';
import type { CommandInput } from './input.js';

type Names =
  | 'followEvents'
  | 'unfollowEvents'
  | 'pollEvents'
  | 'receiveWebhooks'
  | 'stopWebhooks'
  | 'webhookReply'
  | 'emitEvent'
  | 'deliveries'
  | 'redeliver';

const MAX_SUBSCRIPTIONS = 200;
const NOTHING: DeliveriesView = { isOperated: false, hasWebhooks: false, subscriptions: [], isCut: false };

export function eventCommands({ connections }: CommandParts): CommandTable<Names> {
  const of = (input: CommandInput): InspectedConnection => connections.get(input.text('connection'));
  return {
    async followEvents(input) {
      return { story: of(input).events.follow(input.text('name', 1000), input.object('args')).id };
    },
    async unfollowEvents(input) {
      of(input).events.stop(input.text('name', 1000));
      return {};
    },
    async pollEvents(input) {
      const connection = of(input);
      const name = input.text('name', 1000);
      const params = connection.events.pollParams(name, input.object('args'));
      const action = { kind: 'request', title: name, method: eventMethods.poll, args: params } as const;
      const { story } = request(connection, action, params, {
        resolve: (outcome) => connection.events.polled(params, outcome),
        reject: () => undefined,
      });
      return { story: story.id };
    },
    receiveWebhooks: (input) => receive(of(input), input.text('name', 1000), input.object('args')),
    async stopWebhooks(input) {
      const connection = of(input);
      const name = input.text('name', 1000);
      const params = connection.webhooks.stop(name);
      if (params === undefined || connection.status !== 'ready') return {};
      const action = {
        kind: 'request',
        title: name,
        method: eventMethods.unsubscribe,
        args: params,
      } as const;
      await request(connection, action, params).ended;
      return {};
    },
    async webhookReply(input) {
      const wanted = input.text('reply', 20);
      const reply = webhookReplies.find((each) => each === wanted);
      if (reply === undefined)
        throw new McpError('invalid_params', `The reply must be one of ${webhookReplies.join(', ')}.`);
      of(input).webhooks.setReply(input.text('name', 1000), reply);
      return {};
    },
    async emitEvent(input) {
      const { client } = of(input).open;
      const event = {
        name: input.text('name', 1000),
        data: input.object('data'),
        eventId: input.textIfGiven('eventId'),
      };
      return { ...(await operatorOf(client).emit(event).catch(explained)) };
    },
    deliveries: (input) => deliveriesOf(of(input)),
    async redeliver(input) {
      const { client } = of(input).open;
      const subscription = input.text('subscription', 200);
      const count = await operatorOf(client)
        .redeliver(subscription, input.textIfGiven('eventId'))
        .catch(explained);
      return { count };
    },
  };
}

/** Subscribes a webhook. The receiver answers the question of the server whether it wants them. */
async function receive(
  connection: InspectedConnection,
  name: string,
  args: JsonObject,
): Promise<{ story: number; origin: string }> {
  const { webhooks, init } = connection;
  const origin = await init.shared.inbox.origin();
  const params = await webhooks.begin(name, args);
  const action = { kind: 'request', title: name, method: eventMethods.subscribe, args } as const;
  const { story } = request(connection, action, params, {
    resolve: (outcome) => webhooks.accepted(name, outcome),
    reject: () => void webhooks.stop(name),
  });
  return { story: story.id, origin };
}

async function deliveriesOf({ open: { client } }: InspectedConnection): Promise<DeliveriesView> {
  const subscriptions: DeliveriesView['subscriptions'][number][] = [];
  try {
    for await (const found of operatorOf(client).deliveries()) {
      if (subscriptions.length === MAX_SUBSCRIPTIONS)
        return { isOperated: true, hasWebhooks: true, subscriptions, isCut: true };
      subscriptions.push(found);
    }
    return { isOperated: true, hasWebhooks: true, subscriptions, isCut: false };
  } catch (error) {
    if (isNotOperated(error)) return NOTHING;
    if (McpError.is(error) && error.code === 'invalid_params') return { ...NOTHING, isOperated: true };
    throw error;
  }
}

function explained(error: unknown): never {
  if (!isNotOperated(error)) throw error;
  throw new McpError(
    'method_not_found',
    'Only a server whose file the inspector has started, or that fullmcp dev runs, lets the inspector do this.',
  );
}
