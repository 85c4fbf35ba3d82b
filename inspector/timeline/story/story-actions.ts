// Actions for a call that was made: run it again, take its arguments, keep it, copy it.

import { batch } from '@preact/signals';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { keptArguments, setDraft } from '../../places/tools/draft.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { shownRun } from '../../state/shown-run.js';
import { catalogs, current } from '../../state/store.js';
import { toast } from '../../state/toast.js';
import { selectedMessage, selectedStory } from '../timeline-state.js';

/** Whether the request of a story can be sent again. */
export function canRunAgain({ kind }: Story): boolean {
  return kind !== 'connect' && kind !== 'unsolicited' && kind !== 'subscription';
}

/** Sends the request of a story again and selects the new story, unless the user has gone on to another one before it began. */
export async function runAgain(story: Story): Promise<number | undefined> {
  if (!canRunAgain(story)) return undefined;
  const before = selectedStory.value;
  try {
    const { story: id } = await run('again', { story: story.id });
    if (selectedStory.value !== before) return id;
    selectedStory.value = id;
    selectedMessage.value = undefined;
    return id;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Whether the arguments of a story can go back into a form. */
export function canEdit({ kind, args, method }: Story): boolean {
  return kind === 'read' || (args !== undefined && (kind === 'prompt' || method === 'tools/call'));
}

/** Opens the tool, prompt or resource of a story with its arguments. */
export function editStory(story: Story): void {
  if (!canEdit(story)) return;
  batch(() => {
    current.value = story.connection;
    if (story.kind === 'read') return go('resources', story.title);
    if (story.kind === 'prompt') return go('prompts', story.title, texts(story.args));
    const view = catalogs.value.get(story.connection)?.tools.find(({ tool }) => tool.name === story.title);
    if (view)
      setDraft(story.connection, view, { value: keptArguments(story), text: undefined, isAttempted: false });
    shownRun.value = story.id;
    go('tools', story.title);
  });
}

function texts(args: JsonObject | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(args ?? {}).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

export async function togglePin({ id, isPinned }: Story): Promise<void> {
  await attempt(run('pin', { story: id, pinned: !isPinned }));
}

export async function stopStory({ id }: Story): Promise<void> {
  await attempt(run('stop', { story: id }));
}

/** Waits for a command and shows the words of its failure. */
export async function attempt(command: Promise<unknown>): Promise<boolean> {
  try {
    await command;
    return true;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    return false;
  }
}
