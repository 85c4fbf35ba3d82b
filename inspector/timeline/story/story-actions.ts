// What can be done with a call that was made: run it again, take its arguments, keep it, copy it.

import type { Story } from '../../../src/inspector/contract/story.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { toast } from '../../state/toast.js';
import { selectedMessage, selectedStory } from '../timeline-state.js';

/** Whether the request of a story can be sent again. */
export function canRunAgain({ kind }: Story): boolean {
  return kind !== 'connect' && kind !== 'unsolicited' && kind !== 'subscription';
}

/** Sends the request of a story again and selects the new story. */
export async function runAgain(story: Story): Promise<number | undefined> {
  if (!canRunAgain(story)) return undefined;
  try {
    const { story: id } = await run('again', { story: story.id });
    selectedStory.value = id;
    selectedMessage.value = undefined;
    return id;
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Whether the arguments of a story can go back into a form. */
export function canEdit({ kind, args }: Story): boolean {
  return args !== undefined && (kind === 'tool' || kind === 'task' || kind === 'prompt');
}

/** Opens the form of the tool or prompt with the arguments of this story. */
export function editStory(story: Story): void {
  if (canEdit(story))
    go(story.kind === 'prompt' ? 'prompts' : 'tools', story.title, { from: String(story.id) });
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
