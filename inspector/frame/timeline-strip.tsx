import { type Signal, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { cleanLine } from '../../src/tooling/clean.js';
import { Icon } from '../parts/icon.js';
import { lazy } from '../parts/lazy.js';
import { stateWord } from '../parts/state-mark.js';
import { counted, duration } from '../parts/values/format.js';
import { ownStories } from '../state/store.js';

const Timeline = lazy(() => import('../timeline/timeline.js').then((module) => module.Timeline));

export const isStripOpen: Signal<boolean> = signal(false);

/** The element that had the focus when a key opened the strip: it has it again when the strip closes. */
let opener: HTMLElement | undefined;

/** Opens the strip with the focus in its list, or closes it. */
export function toggleStrip(): void {
  if (isStripOpen.value) return closeStrip();
  opener = document.activeElement instanceof HTMLElement ? document.activeElement : undefined;
  isStripOpen.value = true;
}

export function closeStrip(): void {
  isStripOpen.value = false;
  opener?.focus({ preventScroll: true });
  opener = undefined;
}

/** Where there is no room for a column, the timeline is a strip at the bottom that opens. */
export function TimelineStrip(): VNode {
  const latest = ownStories.value.at(-1);
  return (
    <aside class={isStripOpen.value ? 'frame-strip is-open' : 'frame-strip'} aria-label="Timeline">
      <button
        type="button"
        class="frame-strip-bar"
        aria-expanded={isStripOpen.value}
        aria-keyshortcuts="t"
        onClick={() => {
          opener = undefined;
          isStripOpen.value = !isStripOpen.value;
        }}
      >
        <Icon name={isStripOpen.value ? 'down' : 'up'} size={12} />
        <strong>Timeline</strong>
        <span class="muted">{counted(ownStories.value.length, 'entry', 'entries')}</span>
        {latest && (
          <span class="mono muted frame-strip-latest">
            {cleanLine(latest.title, 60)} {stateWord(latest.state)} {duration(latest.serverMs)}
          </span>
        )}
      </button>
      {isStripOpen.value && (
        <div class="frame-strip-body">
          <Timeline takesFocus={opener !== undefined} />
        </div>
      )}
    </aside>
  );
}
