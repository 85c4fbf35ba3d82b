import type { VNode } from 'preact';
import type { Story, Tick } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { clock, counted, duration } from '../../parts/values/format.js';
import { type LaneRow, lanesOf } from '../model/lanes.js';
import { now } from '../now.js';
import { StateMark } from '../state-mark.js';

/** The height of a line, in pixels: the list computes with it. */
export const LANE_HEIGHT = 24;
/** Lines of one entry in the timeline. Its story shows all of them. */
export const LANES_IN_ENTRY = 40;
const TICKS_SHOWN = 4;

/** The lanes of a story: requests to the right, replies to the left, everything else between them. */
export function Lanes({
  story,
  limit,
  onMessage,
}: {
  readonly story: Story;
  readonly limit?: number;
  readonly onMessage?: (seq: number) => void;
}): VNode {
  const rows = lanesOf(story, limit);
  return (
    <div class="lanes">
      {rows.map((row, index) => (
        <Lane key={index} row={row} before={rows[index - 1]} story={story} onMessage={onMessage} />
      ))}
    </div>
  );
}

/** The names above the two lanes. Where no entry shows its lanes, there is only their room, so that nothing moves when one does. */
export function LaneHeads({ isShown = true }: { readonly isShown?: boolean }): VNode {
  return (
    <div class={`timeline-heads label muted${isShown ? '' : ' is-room'}`} aria-hidden="true">
      <span class="lane-time" />
      <span class="timeline-ends">
        <span>client</span>
        <span>server</span>
      </span>
    </div>
  );
}

function Lane({
  row,
  before,
  story,
  onMessage,
}: {
  readonly row: LaneRow;
  readonly before: LaneRow | undefined;
  readonly story: Story;
  readonly onMessage: ((seq: number) => void) | undefined;
}): VNode {
  const message = 'message' in row ? row.message : undefined;
  const hasTime =
    row.type === 'right' || row.type === 'you' || (row.type === 'left' && before?.type !== 'right');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list of messages below does the same with the keyboard
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div
      class={`lane ${row.type}`}
      onClick={
        message === undefined || !onMessage
          ? undefined
          : (event) => {
              event.stopPropagation();
              onMessage(message);
            }
      }
    >
      <span class="lane-time">{hasTime ? clock(row.at, true).slice(0, -2) : ''}</span>
      <LaneLine row={row} story={story} />
    </div>
  );
}

function LaneLine({ row, story }: { readonly row: LaneRow; readonly story: Story }): VNode {
  switch (row.type) {
    case 'right':
      return (
        <>
          <span class={`lane-line${row.isStream ? ' stream' : ''}${row.isAnswer ? ' answer' : ''}`}>
            <span class="lane-label">{row.text}</span>
          </span>
          <span class="lane-note" title={row.note}>
            {row.note}
          </span>
          <span class="lane-ms">{row.ms === undefined ? '' : duration(ownTime(row.ms, story))}</span>
        </>
      );
    case 'left':
      return (
        <>
          <span class={`lane-line ${row.tone}`}>
            <span class="lane-label">
              <StateMark tone={row.tone} />
              {row.text}
              {row.detail && <span class="lane-detail">{row.detail}</span>}
            </span>
          </span>
          <span class="lane-note">{row.ms !== undefined && story.youMs > 0 ? 'and you' : ''}</span>
          <span class="lane-ms">{row.ms === undefined ? '' : duration(row.ms)}</span>
        </>
      );
    case 'you':
      return (
        <>
          <span class="lane-you">
            <span class="lane-label">
              {row.isRemembered
                ? 'remembered'
                : `you, ${duration(row.ms ?? Math.max(0, now.value - row.at))}`}
            </span>
          </span>
          <span class="lane-note" title={row.detail}>
            {row.detail}
          </span>
          <span class="lane-ms" />
        </>
      );
    case 'ticks':
      return (
        <>
          <Ticks ticks={row.ticks} />
          <span class="lane-note">{row.polls === undefined ? '' : counted(row.polls, 'poll')}</span>
          <span class="lane-ms" />
        </>
      );
    case 'going':
      return (
        <>
          <span class={row.isStream ? 'lane-going stream' : 'lane-going'}>
            <span class="lane-label">{row.text || 'running'}</span>
          </span>
          <span class="lane-note" />
          <span class="lane-ms">{duration(Math.max(0, now.value - story.at - story.youMs))}</span>
        </>
      );
    default:
      return (
        <>
          <span class="lane-more">{counted(row.count, 'more line')} in its story</span>
          <span class="lane-note" />
          <span class="lane-ms" />
        </>
      );
  }
}

/** The server's part of a round. In a session the user's time lies inside the round. */
function ownTime(ms: number, story: Story): number {
  return story.rounds.length === 1 && !story.task ? Math.max(0, Math.min(ms, story.serverMs)) : ms;
}

function Ticks({ ticks }: { readonly ticks: readonly Tick[] }): VNode {
  const shown = ticks.slice(-TICKS_SHOWN);
  const hidden = ticks.length - shown.length;
  return (
    <span class="lane-ticks">
      {hidden > 0 && <span class="lane-tick plain">{hidden} before</span>}
      {shown.map((tick, index) => (
        <span
          key={index}
          class={`lane-tick ${tick.kind} ${tick.level ?? ''}`}
          title={`${clock(tick.at, true)} ${cleanLine(tick.text)}`}
        >
          {cleanLine(tick.text, 60)}
        </span>
      ))}
    </span>
  );
}
