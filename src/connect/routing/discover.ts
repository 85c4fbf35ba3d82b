// The description of several servers as one: the union of their descriptions.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { declaringEvents } from '../../protocol/events/dialects.js';
import { eventCapabilities } from '../../protocol/events/offer.js';
import { SERVER_INFO } from '../../protocol/meta.js';
import type { Discovered, ServerCapabilities } from '../../protocol/model/model.js';
import { modernRevisions } from '../../protocol/tables/features.js';
import { TASKS } from '../../protocol/tasks.js';
import type { Router } from './router.js';

const events = eventCapabilities({ listChanged: true });
/** A server that has not been connected yet may have any capability. */
const anyCapability: Readonly<ServerCapabilities> = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  ...events.capability,
  extensions: { [TASKS]: {}, ...events.extension },
};

/** The description of several servers, made of what is known about them. Does not connect any of them. */
export function discoveredOf({ members }: Pick<Router, 'members'>): Discovered {
  const all = [...members.values()];
  const instructions = all.flatMap(({ name, facts }) =>
    facts?.instructions === undefined ? [] : [`## ${name}\n\n${facts.instructions}`],
  );
  const names = all.map(({ name }) => name).join(', ');
  return {
    supportedVersions: modernRevisions,
    capabilities: all.reduce<JsonObject>(
      (union, { facts }) =>
        mergeCapabilities(union, declaringEvents({ ...(facts?.capabilities ?? anyCapability) })),
      {},
    ),
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { [SERVER_INFO]: { name: names || 'no servers', version: String(all.length) } },
  };
}

// Capabilities are objects of objects or flags: all together have a capability if one of them has it.
function mergeCapabilities(one: JsonObject, other: JsonObject, depth = 2): JsonObject {
  const both = new Map(Object.entries(one));
  for (const [key, value] of Object.entries(other)) {
    const own = both.get(key);
    const deeper = depth > 0 && isObject(own) && isObject(value);
    both.set(key, deeper ? mergeCapabilities(own, value, depth - 1) : own || value);
  }
  return Object.fromEntries(both);
}
