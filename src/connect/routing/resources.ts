// Finds the server that a resource belongs to.

import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { faultData, notFound } from '../../protocol/not-found.js';
import { mayGoTo } from './checked-use.js';
import type { Offer, Routed, Router, WantedItem } from './router.js';

// Resources keep their URIs, so the lists of the members, as the caller sees them, decide which member owns a resource.

const GRACE_MS = 1000;

export function readResource(router: Router, call: Call): Promise<Outcome> {
  const { uri } = call.params;
  if (typeof uri !== 'string') throw new McpError('invalid_params', 'params.uri must be a string');
  return search(router, call, { kind: 'resources', name: uri });
}

/** Completes an argument of a template. */
export function completeTemplate(router: Router, call: Call, uri: string): Promise<Outcome> {
  return search(router, call, { kind: 'templates', name: uri });
}

type Offers = ReadonlyMap<Routed, Offer>;

/** Asks the member that lists the resource, then those whose templates match, then all that may have it, until one has it. */
async function search(router: Router, call: Call, wanted: WantedItem): Promise<Outcome> {
  const [only] = router.members.values();
  if (only !== undefined && router.members.size === 1) return only.forward(call);
  const attempted = new Set<Routed>();

  async function ask(candidates: readonly Routed[], offers: Offers): Promise<Outcome | undefined> {
    for (const member of candidates) {
      if (attempted.has(member)) continue;
      attempted.add(member);
      try {
        return await member.forward(call);
      } catch (error) {
        if (!isNotFound(error) || offers.get(member) === 'listed') throw error;
      }
    }
    return undefined;
  }

  // The lists that are already fetched come first, so that a server that hangs does not delay calls to the others.
  const isWay = mayGoTo(call);
  const onWay = (offers: Offers): Offers => new Map([...offers].filter(([{ name }]) => isWay(name)));
  const known = onWay(await knownOffers(router, wanted, call));
  const outcome = await ask(likelyOwners(known), known);
  if (outcome !== undefined) return outcome;
  const fetched = onWay(await fetchOffers(router, wanted, call));
  const later = await ask([...likelyOwners(fetched), ...possibleOwners(fetched)], fetched);
  if (later !== undefined) return later;
  throw nobodyHas(router, wanted);
}

/** The members that a call about a resource may go to. */
export interface UsableOwners {
  /** Those that list it, or whose templates match. */
  readonly likely: readonly Routed[];
  /** Those that are asked if the others do not have it. */
  readonly rest: readonly Routed[];
}

/** Finds the members that a call about a resource may go to, without making the call. Throws if it is hidden from the caller. */
export async function usableOwners(router: Router, wanted: WantedItem, call: Call): Promise<UsableOwners> {
  const known = await knownOffers(router, wanted, call);
  const offers = likelyOwners(known).length > 0 ? known : await fetchOffers(router, wanted, call);
  const likely = likelyOwners(offers);
  const has = (offer: Offer): boolean => [...offers.values()].includes(offer);
  // Middleware may answer for what no server has, but not for what is held back. The only server answers for itself, also with the reason
  // why its lists cannot be fetched.
  const isNowhere = has('absent') && !has('never');
  const mayHave = has('possible') || isNowhere || (has('unknown') && offers.size === 1);
  if (likely.length === 0 && offers.size > 0 && !mayHave) throw nobodyHas(router, wanted);
  // The error of a server that lists it is final.
  if (likely.some((member) => offers.get(member) === 'listed')) return { likely, rest: [] };
  const rest = [...offers].flatMap(([member, offer]) =>
    !likely.includes(member) && offer !== 'never' && offer !== 'absent' ? [member] : [],
  );
  return { likely, rest };
}

/** The error for a resource or template that no server has. */
function nobodyHas(router: Router, wanted: WantedItem): McpError {
  const kind = wanted.kind === 'resources' ? 'resource' : 'template';
  // The only server answers for itself, so that something that is hidden must look like something that it does not have.
  if (router.members.size === 1) return notFound(kind, wanted.name);
  const unconnected = [...router.members.values()].filter(({ connection }) => connection === undefined);
  const unasked = unconnected.map(({ name }) => name).join(', ');
  return new McpError(
    kind === 'resource' ? 'resource_not_found' : 'invalid_params',
    `No server has the ${kind} ${shorten(wanted.name, 256)}.${unasked && ` Not asked, because they are not connected: ${unasked}.`}`,
    { data: faultData(kind, wanted.name) },
  );
}

/** The offer of each member, in the order of the members, by the lists that were fetched before. */
async function knownOffers(router: Router, wanted: WantedItem, call: Call): Promise<Offers> {
  const members = [...router.members.values()];
  const offers = await Promise.all(members.map((member) => member.offers(wanted, call)));
  return new Map(members.map((member, at) => [member, offers[at] as Offer]));
}

/**
 * Connects all members and fetches the lists that were not fetched before. Once an owner is found, the others get only one
 * second more: the first in the config wins, but a member that hangs does not delay the call.
 */
async function fetchOffers(router: Router, wanted: WantedItem, call: Call): Promise<Offers> {
  const offers = new Map<Routed, Offer>([...router.members.values()].map((member) => [member, 'unknown']));
  let timer: ReturnType<typeof setTimeout> | undefined;
  await new Promise<void>((resolve, reject) => {
    const parts = [...offers.keys()].map(async (member) => {
      offers.set(member, await member.offers(wanted, call, { fetch: true }));
      if (likelyOwners(offers).length > 0) timer ??= setTimeout(resolve, GRACE_MS);
    });
    Promise.all(parts).then(() => resolve(), reject);
  }).finally(() => clearTimeout(timer));
  // A list that comes later does not change the decision.
  return new Map(offers);
}

function likelyOwners(offers: Offers): readonly Routed[] {
  const listed = membersWith(offers, 'listed');
  return listed.length > 0 ? listed.slice(0, 1) : membersWith(offers, 'fits');
}

/** Those that may have more than they list. */
function possibleOwners(offers: Offers): readonly Routed[] {
  return [...offers].flatMap(([member, offer]) =>
    (offer === 'possible' || offer === 'unknown') && hasResources(member) ? [member] : [],
  );
}

function membersWith(offers: Offers, wanted: Offer): readonly Routed[] {
  return [...offers].flatMap(([member, offer]) => (offer === wanted ? [member] : []));
}

function hasResources({ connection, facts }: Routed): boolean {
  return connection !== undefined && facts?.capabilities.resources !== undefined;
}

/** Finds the members to subscribe to for changes to a URI. One that no member lists may belong to any of them. */
export type FindOwners = (uri: string) => Promise<readonly Routed[]>;

/** Fetches the lists that decide to whom these URIs belong. The result decides by the lists that are known when it is asked. */
export async function ownersOf(router: Router, uris: readonly string[], call: Call): Promise<FindOwners> {
  const wanted = (uri: string): WantedItem => ({ kind: 'resources', name: uri });
  for (const uri of uris) {
    const known = await knownOffers(router, wanted(uri), call);
    if (likelyOwners(known).length === 0 && [...known.values()].includes('unknown'))
      await fetchOffers(router, wanted(uri), call);
  }
  return async function ownersOfUri(uri) {
    const offers = await knownOffers(router, wanted(uri), call);
    const owners = likelyOwners(offers);
    return owners.length > 0 ? owners : possibleOwners(offers);
  };
}

function isNotFound(error: unknown): boolean {
  return (
    McpError.is(error) && ['resource_not_found', 'invalid_params', 'method_not_found'].includes(error.code)
  );
}
