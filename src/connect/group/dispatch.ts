// Handles the calls of a group by forwarding them to its members.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { discoveredOf } from './discover.js';
import { listen } from './listen.js';
import { listAll } from './lists.js';
import type { Membership } from './members.js';
import { completeTemplate, readResource } from './resources.js';
import { forward, forwardNamed, memberOf, taskOf } from './routing.js';

/** Presents the members as one server: finds the member that a call belongs to, and forwards it. */
export function groupDispatch(group: Membership): Dispatch {
  return async function dispatch(call) {
    if (group.ended.aborted) throw group.ended.reason;
    switch (call.method) {
      case 'server/discover':
        return { resultType: 'complete', ...discoveredOf(group) };
      case 'tools/list':
        return listAll(group, 'tools', call.signal);
      case 'prompts/list':
        return listAll(group, 'prompts', call.signal);
      case 'resources/list':
        return listAll(group, 'resources', call.signal);
      case 'resources/templates/list':
        return listAll(group, 'templates', call.signal);
      case 'tools/call':
        return forwardNamed(group, 'tools', call);
      case 'prompts/get':
        return forwardNamed(group, 'prompts', call);
      case 'resources/read':
        return readResource(group, call);
      case 'completion/complete':
        return complete(group, call);
      case 'subscriptions/listen':
        return listen(group, call);
      case 'tasks/get':
      case 'tasks/update':
      case 'tasks/cancel': {
        const { member, taskId } = taskOf(group, call.params['taskId']);
        return forward(member, call, { taskId });
      }
      default:
        throw new McpError(
          'method_not_found',
          `${call.method} is for one server, but this client has several. Use (await client.member(name)).request.`,
        );
    }
  };
}

async function complete(group: Membership, call: Call): Promise<Outcome> {
  const { ref } = call.params;
  const { type, name, uri } = isObject(ref) ? ref : {};
  if (type === 'ref/resource' && typeof uri === 'string') return completeTemplate(group, call, uri);
  const owner = await memberOf(group, 'prompts', name, call.signal);
  return forward(owner.member, call, { ref: { ...(ref as object), name: owner.name } });
}
