// Handles calls by forwarding them to one of several servers.

import { isObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { discoveredOf } from './discover.js';
import { listen } from './listen.js';
import { listAll } from './lists.js';
import { forwardNamed, forwardRenamed, forwardToTask, memberOf } from './names.js';
import { completeTemplate, readResource } from './resources.js';
import type { Router } from './router.js';

/** Presents the members as one server: finds the member that a call belongs to, and forwards it. */
export function routingDispatch(router: Router): Dispatch {
  return async function dispatch(call) {
    if (router.ended.aborted) throw router.ended.reason;
    switch (call.method) {
      case 'server/discover':
        return { resultType: 'complete', ...discoveredOf(router) };
      case 'tools/list':
        return listAll(router, 'tools', call);
      case 'prompts/list':
        return listAll(router, 'prompts', call);
      case 'events/list':
        return listAll(router, 'events', call);
      case 'events/poll':
      case 'events/stream':
      case 'events/subscribe':
      case 'events/unsubscribe':
        return (await import('./events.js')).routeEvents(router, call);
      case 'resources/list':
        return listAll(router, 'resources', call);
      case 'resources/templates/list':
        return listAll(router, 'templates', call);
      case 'tools/call':
        return forwardNamed(router, 'tools', call);
      case 'prompts/get':
        return forwardNamed(router, 'prompts', call);
      case 'resources/read':
        return readResource(router, call);
      case 'completion/complete':
        return complete(router, call);
      case 'subscriptions/listen':
        return listen(router, call);
      case 'tasks/get':
      case 'tasks/update':
      case 'tasks/cancel':
        return forwardToTask(router, call);
      default:
        throw router.unrouted(call.method);
    }
  };
}

async function complete(router: Router, call: Call): Promise<Outcome> {
  const { ref } = call.params;
  const { type, name, uri } = isObject(ref) ? ref : {};
  if (type === 'ref/resource' && typeof uri === 'string') return completeTemplate(router, call, uri);
  const owner = await memberOf(router, 'prompts', name, call);
  return forwardRenamed(owner.member, call, {
    changes: { ref: { ...(ref as object), name: owner.name } },
    inner: owner.name,
    outer: name as string,
  });
}
