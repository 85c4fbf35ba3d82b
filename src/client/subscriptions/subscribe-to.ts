import type { SubscriptionFilter } from '../../protocol/model/model.js';
import type { SubscribeTo } from '../model/client.js';

// The changes to subscribe to, as a program names them and as the protocol does.

/** The filter that asks a server for these changes. */
export function toFilter({ tools, prompts, resources, uris, tasks }: SubscribeTo): SubscriptionFilter {
  return {
    ...(tools && { toolsListChanged: true }),
    ...(prompts && { promptsListChanged: true }),
    ...(resources && { resourcesListChanged: true }),
    ...(uris?.length && { resourceSubscriptions: [...new Set(uris)] }),
    ...(tasks?.length && { taskIds: [...new Set(tasks)] }),
  };
}

/** The changes that a filter includes. */
export function toSubscribeTo(filter: SubscriptionFilter): SubscribeTo {
  const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, taskIds } =
    filter;
  return {
    ...(toolsListChanged && { tools: true }),
    ...(promptsListChanged && { prompts: true }),
    ...(resourcesListChanged && { resources: true }),
    ...(resourceSubscriptions?.length && { uris: resourceSubscriptions }),
    ...(taskIds?.length && { tasks: taskIds }),
  };
}
