// Finds the server that a resource belongs to.

import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { listedKeysOf } from './lists.js';
import type { ListedKeys, Routed, Router } from './router.js';

// Resources keep their URIs, so the lists of the members decide which member owns a resource.

const GRACE_MS = 1000;

export function readResource(router: Router, call: Call): Promise<Outcome> {
  const { uri } = call.params;
  if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
  return search(router, call, {
    label: `the resource ${shorten(uri, 256)}`,
    code: 'resource_not_found',
    ...ownership(uri),
  });
}

/** Completes an argument of a template. */
export function completeTemplate(router: Router, call: Call, uri: string): Promise<Outcome> {
  return search(router, call, {
    label: `the template ${shorten(uri, 256)}`,
    code: 'invalid_params',
    has: (keys) => keys.templates?.has(uri) === true,
    fits: ownership(uri).fits,
  });
}

interface Ownership {
  /** Whether the member lists the resource. */
  readonly has: (keys: ListedKeys) => boolean;
  /** Whether one of the member's templates matches the URI. */
  readonly fits: (keys: ListedKeys) => boolean;
}

interface Search extends Ownership {
  /** The name of the resource or template in messages. */
  readonly label: string;
  readonly code: 'resource_not_found' | 'invalid_params';
}

function ownership(uri: string): Ownership {
  return {
    has: (keys) => keys.resources?.has(uri) === true,
    fits: (keys) => [...(keys.templates?.values() ?? [])].some((match) => match(uri) !== undefined),
  };
}

/** Asks the member that lists the resource, then those whose templates match, then all that have resources, until one has it. */
async function search(router: Router, call: Call, target: Search): Promise<Outcome> {
  const members = (): readonly Routed[] => [...router.members.values()];
  const [only] = members();
  if (only !== undefined && router.members.size === 1) return only.forward(call);
  const attempted = new Set<Routed>();

  async function ask(candidates: readonly Routed[]): Promise<Outcome | undefined> {
    for (const member of candidates) {
      if (attempted.has(member)) continue;
      attempted.add(member);
      try {
        return await member.forward(call);
      } catch (error) {
        if (!isNotFound(error) || target.has(member.listedKeys)) throw error;
      }
    }
    return undefined;
  }

  // The lists that are already fetched come first, so that a server that hangs does not delay calls to the others.
  const outcome = await ask(likelyOwners(members(), target));
  if (outcome !== undefined) return outcome;
  await fetchLists(router, call, () => likelyOwners(members(), target).length > 0);
  const later = await ask([...likelyOwners(members(), target), ...members().filter(hasResources)]);
  if (later !== undefined) return later;
  const unconnected = members().filter(({ connection }) => connection === undefined);
  const unasked = unconnected.map(({ name }) => name).join(', ');
  throw new McpError(
    target.code,
    `No server has ${target.label}.${unasked && ` Not asked, because they are not connected: ${unasked}.`}`,
    target.code === 'resource_not_found' ? { data: { uri: call.params['uri'] } } : {},
  );
}

function likelyOwners(members: readonly Routed[], { has, fits }: Ownership): readonly Routed[] {
  const owner = members.find(({ listedKeys }) => has(listedKeys));
  return owner === undefined ? members.filter(({ listedKeys }) => fits(listedKeys)) : [owner];
}

function hasResources({ connection, facts }: Routed): boolean {
  return connection !== undefined && facts?.capabilities.resources !== undefined;
}

/**
 * Connects all members and fetches the lists that were not fetched before. Once an owner is found, the others get only one
 * second more: the first in the config wins, but a member that hangs does not delay the call.
 */
async function fetchLists(router: Router, call: Call, hasOwner: () => boolean): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve, reject) => {
    const parts = [...router.members.values()].map(async (member) => {
      await fetchListsOf(member, call);
      if (hasOwner()) timer ??= setTimeout(resolve, GRACE_MS);
    });
    Promise.all(parts).then(() => resolve(), reject);
  }).finally(() => clearTimeout(timer));
}

async function fetchListsOf(member: Routed, call: Call): Promise<void> {
  for (const kind of ['resources', 'templates'] as const) await listedKeysOf(member, kind, call);
}

/** The members to subscribe to for changes to these URIs. A URI that no member lists may belong to any of them. */
export async function ownersOf(
  router: Router,
  uris: readonly string[],
  call: Call,
): Promise<(uri: string) => readonly Routed[]> {
  const members = (): readonly Routed[] => [...router.members.values()];
  const hasOwners = (): boolean => uris.every((uri) => likelyOwners(members(), ownership(uri)).length > 0);
  if (!hasOwners()) await fetchLists(router, call, hasOwners);
  return function ownersOfUri(uri) {
    const owners = likelyOwners(members(), ownership(uri));
    return owners.length > 0 ? owners : members().filter(hasResources);
  };
}

function isNotFound(error: unknown): boolean {
  return (
    McpError.is(error) && ['resource_not_found', 'invalid_params', 'method_not_found'].includes(error.code)
  );
}
