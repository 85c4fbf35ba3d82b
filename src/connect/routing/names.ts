// Finds the server that a name or a task id belongs to.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError } from '../../protocol/errors.js';
import { dialectOfCall, unknownEvent } from '../../protocol/event-failures.js';
import { notFound, renameFault } from '../../protocol/not-found.js';
import type { Routed, Router, WantedItem } from './router.js';

/** Calls the tool or gets the prompt of the member that a name belongs to. */
export async function forwardNamed(router: Router, kind: 'tools' | 'prompts', call: Call): Promise<Outcome> {
  const { member, name } = await memberOf(router, kind, call.params['name'], call);
  return forwardRenamed(member, call, {
    changes: { name },
    inner: name,
    outer: call.params['name'] as string,
  });
}

/** Forwards a call that names a tool, prompt or type of events. An error about the name has the caller's name for it. */
export async function forwardRenamed(
  member: Routed,
  call: Call,
  { changes, inner, outer }: { readonly changes: JsonObject; readonly inner: string; readonly outer: string },
): Promise<Outcome> {
  try {
    return await member.forward(call, changes);
  } catch (error) {
    throw renameFault(error, inner, outer);
  }
}

/** The member that a name belongs to, and the name that the member itself uses. */
export async function memberOf(
  router: Router,
  kind: 'tools' | 'prompts' | 'events',
  name: unknown,
  call: Call,
): Promise<{ readonly member: Routed; readonly name: string }> {
  if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
  const found = await findMember(router, { kind, name }, call);
  if (found !== undefined) return found;
  throw kind === 'events' ? unknownEvent(name, dialectOfCall(call)) : unknownName(router, kind, name);
}

/** The member that a name belongs to; undefined if the name begins with that of no member. */
export async function findMember(
  router: Router,
  { kind, name }: WantedItem,
  call: Call,
): Promise<{ readonly member: Routed; readonly name: string } | undefined> {
  const inOrder = [...router.members.values()]
    .filter(({ name: server }) => name.startsWith(`${server}_`) && name.length > server.length + 1)
    .map((member) => ({ member, name: name.slice(member.name.length + 1) }));
  const longest = [...inOrder].sort((one, other) => other.member.name.length - one.member.name.length)[0];
  if (longest === undefined || inOrder.length === 1) return longest;
  // One server's name is the beginning of another's: the lists that the caller sees decide, and in lists the first one wins.
  const offers = await Promise.all(
    inOrder.map(({ member, name: own }) => member.offers({ kind, name: own }, call, { fetch: true })),
  );
  const listed = inOrder.find((_, at) => offers[at] === 'listed');
  const usable = inOrder.filter((_, at) => offers[at] !== 'never' && offers[at] !== 'absent');
  return listed ?? (usable.includes(longest) ? longest : (usable[0] ?? longest));
}

function unknownName(router: Router, kind: 'tools' | 'prompts', name: string): McpError {
  const prefixes = [...router.members.keys()].map((server) => `${server}_`).join(', ');
  const hint = `. Names begin with the name of their server: ${prefixes || 'there are no servers'}.`;
  return notFound(kind === 'tools' ? 'tool' : 'prompt', name, hint);
}

// The id of a task begins with the name of its server, so that the server is known even after a restart of this program.

/** Makes a call that is about a task on the server that has it. */
export function forwardToTask(router: Router, call: Call): Promise<Outcome> {
  const { member, taskId } = taskOf(router, call.params['taskId']);
  return member.forward(call, { taskId });
}

/** The outcome of a call to one of several servers. */
export function withServer(member: Pick<Routed, 'name'>, method: string, outcome: Outcome): Outcome {
  const isTask = outcome.resultType === 'task' || method.startsWith('tasks/');
  return isTask && typeof outcome['taskId'] === 'string'
    ? { ...outcome, taskId: taskIdOf(member, outcome['taskId']) }
    : outcome;
}

export function taskIdOf({ name }: Pick<Routed, 'name'>, taskId: string): string {
  return `${name}:${taskId}`;
}

/** The member that has a task, and the id that the member itself uses. */
export function taskOf(router: Router, id: unknown): { readonly member: Routed; readonly taskId: string } {
  const fullId = String(id);
  const end = fullId.indexOf(':');
  const member = end < 0 ? undefined : router.members.get(fullId.slice(0, end));
  if (member === undefined)
    throw new McpError(
      'invalid_params',
      `Unknown task: ${shorten(fullId, 128)}. Ids begin with the name of their server.`,
    );
  return { member, taskId: fullId.slice(end + 1) };
}
