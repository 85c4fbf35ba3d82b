// Decides about the calls of a gateway before its middleware sees them.

import { isObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { readOutputUri } from '../../protocol/model/output-uri.js';
import { renameFault } from '../../protocol/not-found.js';
import { type CallRefusal, type CheckCall, type Checked, marked, markOf } from '../routing/checked-use.js';
import { findMember, taskOf } from '../routing/names.js';
import { usableOwners } from '../routing/resources.js';
import type { Routed } from '../routing/router.js';
import type { GatewayMember } from './gateway-member.js';
import type { GatewayServers } from './gateway-servers.js';

/** The servers that a call may go to, and why it must not be made. */
interface Way {
  /** The servers, in the order in which they are asked. */
  readonly to: string;
  readonly refusal?: CallRefusal | undefined;
}

/**
 * Makes the function that decides about a call. Two callers may reach different servers by one name, because each sees others. So the call
 * says to which servers it may go: middleware that keeps results tells such calls apart by it.
 */
export function gatewayCheck(servers: GatewayServers): CheckCall {
  return async function check(call): Promise<Checked> {
    try {
      const way = await wayOf(servers, call);
      if (way === undefined) return { call };
      if (way.refusal !== undefined) return { call, refusal: way.refusal };
      return { call: marked(call, way.to) };
    } catch (error) {
      return { call, refusal: { error } };
    }
  };
}

/** Undefined for calls that are about no definition of a server, such as lists and what middleware itself has. */
async function wayOf(servers: GatewayServers, call: Call): Promise<Way | undefined> {
  const { name, uri, ref, taskId } = call.params;
  switch (call.method) {
    case 'tools/call':
      return wayToName(servers, call, { kind: 'tools', name });
    case 'prompts/get':
      return wayToName(servers, call, { kind: 'prompts', name });
    case 'events/poll':
    case 'events/stream':
    case 'events/subscribe':
      return wayToName(servers, call, { kind: 'events', name });
    case 'resources/read':
      // `outputBudget` has it, and knows whose it is.
      if (typeof uri !== 'string' || readOutputUri(uri) !== undefined) return undefined;
      return wayToResource(servers, call, { kind: 'resources', name: uri });
    case 'completion/complete':
      if (!isObject(ref)) return undefined;
      if (ref['type'] !== 'ref/resource')
        return wayToName(servers, call, { kind: 'prompts', name: ref['name'], ref });
      return typeof ref['uri'] === 'string'
        ? wayToResource(servers, call, { kind: 'templates', name: ref['uri'] })
        : undefined;
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel': {
      const { member, taskId: own } = taskOf(servers, taskId);
      return { to: member.name, refusal: await (member as GatewayMember).refusal(call, { taskId: own }) };
    }
    default:
      return undefined;
  }
}

async function wayToName(
  servers: GatewayServers,
  call: Call,
  {
    kind,
    name,
    ref,
  }: { readonly kind: 'tools' | 'prompts' | 'events'; readonly name: unknown; readonly ref?: object },
): Promise<Way | undefined> {
  if (typeof name !== 'string') return undefined;
  const found = await findMember(servers, { kind, name }, call);
  if (found === undefined) return undefined;
  const changes = ref === undefined ? { name: found.name } : { ref: { ...ref, name: found.name } };
  const member = found.member as GatewayMember;
  try {
    return { to: member.name, refusal: await member.refusal(call, changes) };
  } catch (error) {
    throw renameFault(error, found.name, name);
  }
}

async function wayToResource(
  servers: GatewayServers,
  call: Call,
  wanted: { readonly kind: 'resources' | 'templates'; readonly name: string },
): Promise<Way> {
  const { likely, rest } = await usableOwners(servers, wanted, call);
  const [owner] = (likely.length === 0 && rest.length === 1 ? rest : likely) as readonly GatewayMember[];
  const refusal = await owner?.refusal(call);
  if (refusal !== undefined) return { to: '', refusal };
  // Middleware must not answer with what another caller has got from a server that refuses this one.
  const asked: readonly Routed[] = [...likely, ...rest];
  const others = (asked as readonly GatewayMember[]).filter((member) => member !== owner);
  const refusals = new Map<Routed, CallRefusal>();
  await Promise.all(
    others.map(async (member) => {
      const refused = await member.identityRefusal(call);
      if (refused !== undefined) refusals.set(member, refused);
    }),
  );
  const [first] = refusals.values();
  if (owner === undefined && refusals.size === others.length && first !== undefined)
    return { to: '', refusal: first };
  const names = (members: readonly Routed[]): readonly string[] => members.map(({ name }) => name);
  return { to: markOf([names(likely), names(rest), names([...refusals.keys()])]) };
}
