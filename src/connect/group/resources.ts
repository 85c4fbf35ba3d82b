// Finds the member that a resource belongs to.

import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { listedKeysOf } from './lists.js';
import type { ListedKeys, Member } from './member.js';
import type { Membership } from './members.js';
import { forward } from './routing.js';

// Resources keep their URIs, so the lists of the members decide which member owns one.

const MOMENT_MS = 1000;

export function readResource(group: Membership, call: Call): Promise<Outcome> {
  const { uri } = call.params;
  if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
  return search(group, call, {
    what: `the resource ${shorten(uri, 256)}`,
    code: 'resource_not_found',
    ...ownership(uri),
  });
}

/** Completes an argument of a template. */
export function completeTemplate(group: Membership, call: Call, uri: string): Promise<Outcome> {
  return search(group, call, {
    what: `the template ${shorten(uri, 256)}`,
    code: 'invalid_params',
    has: (listed) => listed.templates?.has(uri) === true,
    fits: ownership(uri).fits,
  });
}

interface Ownership {
  /** Whether the member lists it. */
  readonly has: (listed: ListedKeys) => boolean;
  /** Whether one of the member's templates matches it. */
  readonly fits: (listed: ListedKeys) => boolean;
}

interface Search extends Ownership {
  readonly what: string;
  readonly code: 'resource_not_found' | 'invalid_params';
}

function ownership(uri: string): Ownership {
  return {
    has: (listed) => listed.resources?.has(uri) === true,
    fits: (listed) => [...(listed.templates?.values() ?? [])].some((match) => match(uri) !== undefined),
  };
}

/** Asks the member that lists it; else those whose templates match; else all that have resources, until one knows it. */
async function search(group: Membership, call: Call, wanted: Search): Promise<Outcome> {
  const members = (): readonly Member[] => [...group.members.values()];
  const [only] = members();
  if (only !== undefined && group.members.size === 1) return forward(only, call);
  const tried = new Set<Member>();

  async function ask(candidates: readonly Member[]): Promise<Outcome | undefined> {
    for (const member of candidates) {
      if (tried.has(member)) continue;
      tried.add(member);
      try {
        return await forward(member, call);
      } catch (error) {
        if (!saysUnknown(error) || wanted.has(member.listed)) throw error;
      }
    }
    return undefined;
  }

  // Use the lists that are already fetched first, so that a server that hangs does not delay calls to the others.
  const outcome = await ask(likely(members(), wanted));
  if (outcome !== undefined) return outcome;
  await learn(group, call.signal, () => likely(members(), wanted).length > 0);
  const found = await ask([...likely(members(), wanted), ...members().filter(hasResources)]);
  if (found !== undefined) return found;
  const absent = members().filter(({ client }) => client === undefined);
  const unasked = absent.map(({ name }) => name).join(', ');
  throw new McpError(
    wanted.code,
    `No server has ${wanted.what}.${unasked && ` Not asked, because they are not connected: ${unasked}.`}`,
    wanted.code === 'resource_not_found' ? { data: { uri: call.params['uri'] } } : {},
  );
}

function likely(members: readonly Member[], { has, fits }: Ownership): readonly Member[] {
  const owner = members.find(({ listed }) => has(listed));
  return owner === undefined ? members.filter(({ listed }) => fits(listed)) : [owner];
}

function hasResources({ client }: Member): boolean {
  return client?.server.capabilities.resources !== undefined;
}

/**
 * Connects all members and fetches the lists that were not fetched before. Once an owner is found, the others get only a
 * moment more: the first in the config wins, but a member that hangs does not delay the call.
 */
async function learn(group: Membership, signal: AbortSignal, isFound: () => boolean): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve, reject) => {
    const parts = [...group.members.values()].map(async (member) => {
      await learnOne(group, member, signal);
      if (isFound()) timer ??= setTimeout(resolve, MOMENT_MS);
    });
    Promise.all(parts).then(() => resolve(), reject);
  }).finally(() => clearTimeout(timer));
}

async function learnOne(group: Membership, member: Member, signal: AbortSignal): Promise<void> {
  for (const kind of ['resources', 'templates'] as const) await listedKeysOf(group, member, kind, signal);
}

/** The members to subscribe to for changes of these URIs. A URI that no member lists may belong to any of them. */
export async function ownersOf(
  group: Membership,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<(uri: string) => readonly Member[]> {
  const members = (): readonly Member[] => [...group.members.values()];
  const isClear = (): boolean => uris.every((uri) => likely(members(), ownership(uri)).length > 0);
  if (!isClear()) await learn(group, signal, isClear);
  return function owners(uri) {
    const found = likely(members(), ownership(uri));
    return found.length > 0 ? found : members().filter(hasResources);
  };
}

function saysUnknown(error: unknown): boolean {
  return (
    McpError.is(error) && ['resource_not_found', 'invalid_params', 'method_not_found'].includes(error.code)
  );
}
