import './timeline.css';
import './lanes/lanes.css';
import './story/story.css';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Story } from '../../src/inspector/contract/story.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { useKeys } from '../parts/controls/keys.js';
import { Empty } from '../parts/empty.js';
import { type Layout, layout } from '../parts/list/layout.js';
import { go } from '../state/route.js';
import { history, ownStories, stories } from '../state/store.js';
import { Entry } from './lanes/entry.js';
import { LANE_HEIGHT, LANES_IN_ENTRY, LaneHeads } from './lanes/lanes.js';
import { Below } from './lists/below.js';
import { MessagesView } from './lists/messages-view.js';
import { VirtualList } from './lists/virtual-list.js';
import { lanesOf } from './model/lanes.js';
import { useClock } from './now.js';
import { editStory, runAgain } from './story/story-actions.js';
import { StoryDetail } from './story/story-detail.js';
import { kind, query, selectedMessage, selectedStory, shownStories, state, view } from './timeline-state.js';
import { Toolbar } from './toolbar.js';

const ROW = 28;
/** The space below the lanes of an open entry. */
const ENTRY_PADDING = 8;
/** More running calls than these stay folded: nobody can read them all. */
const OPEN_AT_MOST = 6;

/** Every call as one entry: two lanes, the client on the left, the server on the right. */
export function Timeline({
  takesFocus = false,
}: {
  /** Begins with the focus in its list. */
  readonly takesFocus?: boolean;
}): VNode {
  const region = useRef<HTMLElement>(null);
  useEffect(() => {
    if (takesFocus) document.getElementById('timeline-list')?.focus();
  }, []);
  const selected = selectedStory.value === undefined ? undefined : stories.value.get(selectedStory.value);
  const isInside = () => region.current?.contains(document.activeElement) === true;
  const withSelected = (act: (story: Story) => void) => (): false | undefined => {
    if (!selected || !isInside()) return false;
    act(selected);
    return undefined;
  };
  useKeys({
    r: withSelected((story) => void runAgain(story)),
    e: withSelected(editStory),
    g: withSelected(({ id }) => go('call', String(id))),
    Enter: withSelected(() => region.current?.querySelector<HTMLElement>('.detail button')?.focus()),
    Escape: withSelected(() => {
      selectedStory.value = undefined;
      document.getElementById('timeline-list')?.focus();
    }),
  });
  return (
    <section ref={region} class="timeline" aria-label="Timeline">
      <Toolbar />
      {history.value?.notice !== undefined && (
        <p class="timeline-notice" role="status">
          {cleanLine(history.value.notice, 500)}
        </p>
      )}
      {view.value === 'calls' ? <Calls /> : <MessagesView />}
      {view.value === 'calls' && selected && (
        <Below>
          <StoryDetail story={selected} />
        </Below>
      )}
    </section>
  );
}

function Calls(): VNode {
  const shown = shownStories.value;
  const selected = selectedStory.value;
  useClock(shown.some(isGoing));
  const open = useMemo(() => openEntries(shown, selected), [shown, selected]);
  const rows: Layout = useMemo(() => layout(shown.length, ROW, open), [shown, open]);
  const isEmpty = shown.length === 0;
  useEffect(takeWaitingFocus, [isEmpty]);
  if (isEmpty) return <Nothing />;
  return (
    <>
      <LaneHeads isShown={open.size > 0} />
      <VirtualList
        id="timeline-list"
        label="Calls, newest first"
        rows={rows}
        keyOf={(index) => shown[index]?.id ?? -1}
        indexOf={(id) => placeOf(shown, id)}
        selected={selected}
        onSelect={(id) => {
          if (selectedStory.value === id) return;
          selectedStory.value = id;
          selectedMessage.value = undefined;
        }}
        itemOf={(index) => shown[index]}
        draw={drawEntry}
      />
    </>
  );
}

/** The focus waits in the column when somebody asks for the timeline before it has a list. */
function takeWaitingFocus(): void {
  if (document.activeElement?.id === 'timeline') document.getElementById('timeline-list')?.focus();
}

function drawEntry(story: Story | undefined, isOpen: boolean): VNode | null {
  return story ? <Entry story={story} isOpen={isOpen} onMessage={showMessage} /> : null;
}

function showMessage(story: Story, seq: number): void {
  selectedStory.value = story.id;
  selectedMessage.value = seq;
}

function Nothing(): VNode {
  if (ownStories.value.length === 0)
    return <Empty title="Nothing was sent yet.">Each call, read and notification appears here.</Empty>;
  return (
    <Empty
      title={query.value ? `No call or message has “${query.value}” in it.` : 'No call fits these filters.'}
    >
      <button
        type="button"
        class="button"
        onClick={() => {
          query.value = '';
          kind.value = 'all';
          state.value = 'any';
        }}
      >
        Show all {ownStories.value.length}
      </button>
    </Empty>
  );
}

function isGoing({ state: its }: Story): boolean {
  return its === 'running' || its === 'asks' || its === 'open';
}

/** The heights of the entries that show their lanes: the selected one, and the newest that are not over. */
function openEntries(shown: readonly Story[], selected: number | undefined): ReadonlyMap<number, number> {
  const open = new Map<number, number>();
  let left = OPEN_AT_MOST;
  for (const [index, story] of shown.entries()) {
    const isOwn = (story.state === 'running' || story.state === 'asks') && left > 0;
    if (isOwn) left -= 1;
    if (!isOwn && story.id !== selected) continue;
    open.set(index, ROW + lanesOf(story, LANES_IN_ENTRY).length * LANE_HEIGHT + ENTRY_PADDING);
  }
  return open;
}

/** The place of a story in a list that begins with the newest. */
function placeOf(shown: readonly Story[], id: number): number {
  let low = 0;
  let high = shown.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const its = shown[middle]?.id ?? -1;
    if (its === id) return middle;
    if (its > id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
