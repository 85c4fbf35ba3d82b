import type { VNode } from 'preact';
import type { EarlierLack, Story } from '../../src/inspector/contract/story.js';
import { bytes, moment } from './values/format.js';

/** Says that a call is from an earlier visit, and what the history does not have of it. */
export function EarlierNote({ story }: { readonly story: Story }): VNode | null {
  const { earlier, at, outcome, outcomeBytes = 0 } = story;
  if (earlier === undefined) return null;
  const words: Readonly<Record<EarlierLack, string>> = {
    secrets: 'Secrets in its arguments were not kept.',
    arguments: 'Its arguments were too large to be kept.',
    result:
      outcome === undefined
        ? `Its result of ${bytes(outcomeBytes)} was too large to be kept.`
        : `Of its result of ${bytes(outcomeBytes)}, the beginning was kept.`,
  };
  return (
    <p class="earlier-note muted">
      From an earlier visit, {moment(at)}. {earlier.lacks.map((lack) => words[lack]).join(' ')}
    </p>
  );
}
