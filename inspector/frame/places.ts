// The places of the page, in the order of their keys.

import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import type { IconName } from '../parts/icon.js';
import { isNarrow, isWide } from '../state/media.js';
import { catalog, connection, ownStories, requestsFile } from '../state/store.js';

export interface PlaceInfo {
  readonly place: string;
  readonly label: string;
  readonly icon: IconName;
  readonly key?: string;
  readonly count?: number | undefined;
}

/** The places that this server has; the one that is shown is always among them. */
export function placesOf(shown: string): readonly PlaceInfo[] {
  const can = connection.value?.server?.capabilities ?? {};
  const lists = catalog.value;
  const tasks = ownStories.value.filter((story) => story.task !== undefined);
  const hasTasks =
    tasks.length > 0 || offersTasks(can) || lists?.tools.some(({ task }) => task !== 'never') === true;
  const all: readonly (PlaceInfo & { readonly isThere: boolean })[] = [
    { place: 'tools', label: 'Tools', icon: 'tools', key: '1', count: lists?.tools.length, isThere: true },
    {
      place: 'resources',
      label: 'Resources',
      icon: 'resources',
      key: '2',
      count: lists && lists.resources.length + lists.templates.length,
      isThere: 'resources' in can,
    },
    {
      place: 'prompts',
      label: 'Prompts',
      icon: 'prompts',
      key: '3',
      count: lists?.prompts.length,
      isThere: 'prompts' in can,
    },
    {
      place: 'tasks',
      label: 'Tasks',
      icon: 'tasks',
      key: '4',
      count: tasks.filter(({ task }) => task?.status === 'working' || task?.status === 'input_required')
        .length,
      isThere: hasTasks,
    },
    { place: 'server', label: 'Server', icon: 'server', key: '5', isThere: true },
    {
      place: 'requests',
      label: 'Requests',
      icon: 'save',
      key: '6',
      // On a phone, the bar has no room for one more; the search finds it.
      isThere: requestsFile.value !== undefined && !isNarrow.value,
    },
    {
      place: 'events',
      label: 'Events',
      icon: 'bell',
      key: '7',
      count: lists?.events.length,
      isThere: offersEvents(can) && !isNarrow.value,
    },
    // Where the bar has no room for one more, the key and the search find it.
    { place: 'chat', label: 'Chat', icon: 'prompts', key: '8', isThere: isWide.value },
    { place: 'timeline', label: 'Timeline', icon: 'timeline', isThere: true },
  ];
  return all.filter(({ place, isThere }) => isThere || place === shown);
}

/** The drafts have two places for the capability. */
export function offersEvents({ events, extensions }: JsonObject): boolean {
  return events !== undefined || (isObject(extensions) && 'io.modelcontextprotocol/events' in extensions);
}

/** Since 2026-07-28 the server decides which call becomes a task, and its tools do not say so. */
function offersTasks({ tasks, extensions }: JsonObject): boolean {
  return tasks !== undefined || (isObject(extensions) && 'io.modelcontextprotocol/tasks' in extensions);
}
