// Compiles types of events.

import { type DeliveryMode, deliveryModes } from '../../protocol/events/offer.js';
import type { EventDescriptor } from '../../protocol/events/wire.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import { compileSchema } from '../../schema/compile.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { EventSubscriber, EventType } from '../define/event.js';
import { checkFunction } from './check-functions.js';
import { listDescription } from './description.js';

/** A type of events, prepared for its subscriptions. */
export interface CompiledEvent extends Guarded {
  readonly name: string;
  readonly listed: EventDescriptor;
  readonly input: CompiledSchema;
  readonly payload: CompiledSchema;
  readonly match: ((data: unknown, args: unknown, subscriber: EventSubscriber) => unknown) | undefined;
}

const NAME = /^[A-Za-z0-9_./:-]{1,128}$/;
const noInput = { type: 'object' } as const;

/** Compiles a type of events. Throws an error that describes the mistake in the definition. */
export function compileEvent(
  name: string,
  { options }: EventType,
  { access: rules, hasWebhooks = false }: { readonly access: ServerAccess; readonly hasWebhooks?: boolean },
): CompiledEvent {
  if (!NAME.test(name))
    throw new TypeError(
      'the name of an event has 1 to 128 characters from A-Z, a-z, 0-9, "_", "-", ".", "/" and ":"',
    );
  if (options.payload === undefined) throw new TypeError('it has no "payload"');
  if (options.match !== undefined) checkFunction('match', options.match);
  const payload = compileSchema(options.payload, { io: 'output', requireObject: true });
  const input = compileSchema(options.input ?? noInput, { io: 'input', requireObject: true });
  const listed: EventDescriptor = {
    name,
    ...listDescription(options),
    delivery: readDelivery(options.delivery, hasWebhooks),
    inputSchema: { ...input.json },
    payloadSchema: { ...payload.json },
  };
  const access = rules.of({ kind: 'event', name }, options as GuardedOptions);
  return { name, listed, input, payload, match: options.match as CompiledEvent['match'], access };
}

function readDelivery(given: unknown, hasWebhooks: boolean): readonly DeliveryMode[] {
  const offered = deliveryModes.filter((mode) => hasWebhooks || mode !== 'webhook');
  const delivery = given ?? offered;
  const words = offered.map((mode) => `"${mode}"`).join(', ');
  if (!Array.isArray(delivery) || delivery.length === 0 || new Set(delivery).size < delivery.length)
    throw new TypeError(`"delivery" must be an array with one or more of ${words}, each at most once`);
  const wrong: unknown = delivery.find((mode) => !offered.includes(mode as DeliveryMode));
  if (wrong === 'webhook')
    throw new TypeError(
      '"delivery" has "webhook", but the server has no webhooks. Give it the option "webhooks".',
    );
  if (wrong !== undefined) throw new TypeError(`"delivery" has ${JSON.stringify(wrong)}. Known: ${words}.`);
  return deliveryModes.filter((mode) => delivery.includes(mode));
}
