// The entries that the command bar can find.

import { cleanLine } from '../../../src/tooling/clean.js';
import type { IconName } from '../../parts/icon.js';
import { enter } from '../../parts/list/entering.js';
import { stateWord } from '../../parts/state-mark.js';
import { duration, moment } from '../../parts/values/format.js';
import { saveTape } from '../../places/tapes/save-tape.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { theme } from '../../state/settings.js';
import { catalog, connection, connections, mayConnect, ownStories, requestsFile } from '../../state/store.js';
import { goToStory } from '../go-to-story.js';
import { overlay } from './overlays.js';

export interface Entry {
  readonly id: string;
  readonly group: 'tool' | 'call' | 'resource' | 'prompt' | 'action';
  readonly icon: IconName;
  readonly title: string;
  readonly detail: string;
  readonly isCode?: boolean;
  readonly open: () => void;
}

const RECENT_CALLS = 10;
const MAX_EACH = 20;

export function entriesFor(typed: string): readonly Entry[] {
  const words = typed.toLowerCase().split(' ').filter(Boolean);
  const groups = [tools(), calls(typed === '' ? RECENT_CALLS : 200), resources(), prompts(), actions()];
  return groups.flatMap((entries) =>
    entries
      .filter(({ title, detail }) => {
        const text = `${title} ${detail}`.toLowerCase();
        return words.every((word) => text.includes(word));
      })
      .slice(0, MAX_EACH),
  );
}

function tools(): readonly Entry[] {
  return (catalog.value?.tools ?? []).map(({ tool }) => ({
    id: `tool ${tool.name}`,
    group: 'tool',
    icon: 'tools',
    title: tool.name,
    detail: text(tool['description']),
    isCode: true,
    open: () => goInto('tools', tool.name),
  }));
}

function calls(count: number): readonly Entry[] {
  return ownStories.value
    .filter(({ kind }) => kind === 'tool' || kind === 'task' || kind === 'read' || kind === 'prompt')
    .slice(-count)
    .reverse()
    .map((story) => ({
      id: `call ${story.id}`,
      group: 'call',
      icon: 'timeline',
      title: `${story.title} #${story.run}`,
      detail: `${moment(story.at)}, ${stateWord(story.state)}, ${duration(story.serverMs)}`,
      isCode: true,
      open: () => goToStory(story),
    }));
}

function resources(): readonly Entry[] {
  return (catalog.value?.resources ?? []).map((resource) => ({
    id: `resource ${text(resource['uri'])}`,
    group: 'resource',
    icon: 'resources',
    title: text(resource['title'] ?? resource['name'] ?? resource['uri']),
    detail: text(resource['uri']),
    open: () => go('resources', text(resource['uri'])),
  }));
}

function prompts(): readonly Entry[] {
  return (catalog.value?.prompts ?? []).map((prompt) => ({
    id: `prompt ${text(prompt['name'])}`,
    group: 'prompt',
    icon: 'prompts',
    title: text(prompt['name']),
    detail: text(prompt['description']),
    isCode: true,
    open: () => goInto('prompts', text(prompt['name'])),
  }));
}

function actions(): readonly Entry[] {
  const view = connection.value;
  const all: (Omit<Entry, 'id' | 'group' | 'detail'> & { readonly detail?: string })[] = [];
  if (view) {
    const { id } = view;
    all.push(
      {
        icon: 'again',
        title: 'List everything again',
        open: () => quietly(run('refresh', { connection: id })),
      },
      { icon: 'again', title: 'Connect again', open: () => quietly(run('reconnect', { connection: id })) },
      { icon: 'server', title: 'Ping the server', open: () => quietly(run('ping', { connection: id })) },
      {
        icon: 'download',
        title: 'Save as a tape',
        detail: 'everything of this connection',
        open: () => void saveTape(view),
      },
      {
        icon: 'trash',
        title: 'Clear the timeline',
        detail: 'keeps what is pinned or running',
        open: () => quietly(run('clear', { connection: id })),
      },
    );
    for (const other of connections.value.values())
      if (other.id !== id && other.catalogVersion > 0)
        all.push({
          icon: 'compare',
          title: `Compare with ${cleanLine(other.name, 60)}`,
          detail: `what both servers offer, ${other.revision ?? ''} ${other.address}`,
          open: () => go('compare', `${id}..${other.id}`),
        });
    if (!view.isFixed)
      all.push({
        icon: 'close',
        title: 'Disconnect',
        open: () => quietly(run('disconnect', { connection: id })),
      });
  }
  if (mayConnect.value)
    all.push({ icon: 'plus', title: 'Connect to another server', open: () => go('connect') });
  all.push(
    ...(requestsFile.value === undefined
      ? []
      : [{ icon: 'save' as const, title: 'Requests', open: () => go('requests') }]),
    ...(catalog.value === undefined || catalog.value.events.length === 0
      ? []
      : [{ icon: 'bell' as const, title: 'Events', open: () => go('events') }]),
    { icon: 'prompts', title: 'Chat', detail: 'with a model', open: () => go('chat') },
    { icon: 'tapes', title: 'Tapes', open: () => go('tapes') },
    { icon: 'timeline', title: 'Timeline', open: () => go('timeline') },
    { icon: 'sun', title: 'Light theme', open: () => setTheme('light') },
    { icon: 'moon', title: 'Dark theme', open: () => setTheme('dark') },
    { icon: 'theme', title: 'Theme of the system', open: () => setTheme('system') },
    {
      icon: 'keys',
      title: 'All keys',
      open: () => {
        overlay.value = 'keys';
      },
    },
  );
  return all.map((each) => ({
    ...each,
    id: `action ${each.title} ${each.detail ?? ''}`,
    group: 'action',
    detail: each.detail ?? '',
  }));
}

/** Opens an item as Enter in its list does: with the cursor in its form. On a touch screen, that would open the keyboard. */
function goInto(place: string, name: string): void {
  if (!matchMedia('(pointer: coarse)').matches) enter(name);
  go(place, name);
}

function setTheme(next: 'light' | 'dark' | 'system'): void {
  theme.value = next;
}

/** Whether it worked is seen in the timeline and in the state of the connection. */
function quietly(command: Promise<unknown>): void {
  command.catch(() => undefined);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
