// Finds the member that a name or a task id belongs to, and forwards calls to it.

import { unlessAborted } from '../../async/abort.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { McpError, throwCancelled } from '../../protocol/errors.js';
import { progressToken } from '../../protocol/meta.js';
import { listedKeysOf, noLimit } from './lists.js';
import type { Member } from './member.js';
import type { Membership } from './members.js';

/** Calls the tool or gets the prompt of the member that a name belongs to. */
export async function forwardNamed(
  group: Membership,
  kind: 'tools' | 'prompts',
  call: Call,
): Promise<Outcome> {
  const { member, name } = await memberOf(group, kind, call.params['name'], call.signal);
  return forward(member, call, { name });
}

/** The member that a name belongs to, and the name that the member itself uses. */
export async function memberOf(
  group: Membership,
  kind: 'tools' | 'prompts',
  name: unknown,
  signal: AbortSignal,
): Promise<{ readonly member: Member; readonly name: string }> {
  if (typeof name !== 'string') throw new McpError('invalid_params', 'params.name must be a string');
  const inOrder = [...group.members.values()]
    .filter(({ name: server }) => name.startsWith(`${server}_`) && name.length > server.length + 1)
    .map((member) => ({ member, name: name.slice(member.name.length + 1) }));
  const longest = [...inOrder].sort((one, other) => other.member.name.length - one.member.name.length)[0];
  if (longest === undefined) throw unknownName(group, kind, name);
  if (inOrder.length === 1) return longest;
  // One server's name is the beginning of another's: their lists decide, and in lists the first one wins.
  const keys = await Promise.all(inOrder.map(({ member }) => listedKeysOf(group, member, kind, signal)));
  return inOrder.find(({ name: own }, at) => keys[at]?.has(own)) ?? longest;
}

function unknownName(group: Membership, kind: 'tools' | 'prompts', name: string): McpError {
  const prefixes = [...group.members.keys()].map((server) => `${server}_`).join(', ');
  return new McpError(
    'invalid_params',
    `Unknown ${kind.slice(0, -1)}: ${shorten(name, 128)}. Names begin with the name of their server: ${prefixes || 'there are no servers'}.`,
  );
}

/** Makes the call on a member, with `changes` to its parameters. Notifications of the call go to the caller. */
export async function forward(member: Member, call: Call, changes: object = {}): Promise<Outcome> {
  const { _meta, ...params } = call.params;
  const { progressToken: _, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  const token = progressToken(call.params);
  const { logLevel } = call.peer;
  const client = await unlessAborted(member.connect(), call.signal).catch(throwCancelled);
  try {
    const outcome = await client.request(
      call.method,
      { ...params, ...changes },
      {
        signal: call.signal,
        // The caller's client enforces the timeout.
        ...noLimit,
        meta,
        ...(logLevel !== undefined && {
          logLevel,
          onLog: (message) => call.notify('notifications/message', { ...message }),
        }),
        ...(token !== undefined && {
          onProgress: (progress) =>
            call.notify('notifications/progress', { progressToken: token, ...progress }),
        }),
      },
    );
    return member.mark(withServer(member, call.method, outcome));
  } catch (error) {
    throw member.named(error);
  }
}

// The id of a task begins with the name of its server, so that the server is known even after a restart of this program.

function withServer(member: Member, method: string, outcome: Outcome): Outcome {
  const isTask = outcome.resultType === 'task' || method.startsWith('tasks/');
  return isTask && typeof outcome['taskId'] === 'string'
    ? { ...outcome, taskId: taskIdOf(member, outcome['taskId']) }
    : outcome;
}

export function taskIdOf({ name }: Member, taskId: string): string {
  return `${name}:${taskId}`;
}

/** The name of the server that an outcome, an error, or the id of a task comes from. */
export function serverOf({ origins, members }: Membership, settled: unknown): string | undefined {
  if (typeof settled === 'object' && settled !== null) return origins.get(settled);
  const [name = ''] = String(settled).split(':', 1);
  return members.has(name) ? name : undefined;
}

/** The member that has a task, and the id that the member itself uses. */
export function taskOf(group: Membership, id: unknown): { readonly member: Member; readonly taskId: string } {
  const fullId = String(id);
  const end = fullId.indexOf(':');
  const member = end < 0 ? undefined : group.members.get(fullId.slice(0, end));
  if (member === undefined)
    throw new McpError(
      'invalid_params',
      `Unknown task: ${shorten(fullId, 128)}. Ids begin with the name of their server.`,
    );
  return { member, taskId: fullId.slice(end + 1) };
}
