import type { VNode } from 'preact';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon } from '../../parts/icon.js';
import { counted, duration, moment } from '../../parts/values/format.js';
import { outcomeWords, stateOf, yourTime } from '../model/words.js';
import { now } from '../now.js';
import { StateWord } from '../state-mark.js';
import { LANES_IN_ENTRY, Lanes } from './lanes.js';

const MARKS = 5;

/** A story in the timeline: one row, and its lanes while it is open. */
export function Entry({
  story,
  isOpen,
  onMessage,
}: {
  readonly story: Story;
  readonly isOpen: boolean;
  readonly onMessage: (story: Story, seq: number) => void;
}): VNode {
  const { word, tone } = stateOf(story);
  const classes = ['entry', isOpen && 'is-open', story.earlier && 'is-earlier'].filter(Boolean).join(' ');
  return (
    <div class={classes}>
      <div class="entry-row">
        <span class="entry-time" title={story.earlier && 'From an earlier visit'}>
          {moment(story.at)}
          {story.earlier && <span class="visually-hidden"> from an earlier visit</span>}
        </span>
        <StateWord tone={tone} word={word === 'tool error' ? 'error' : word} />
        <span class="entry-title">
          {kindWord(story)}
          {cleanLine(story.title, 80)}
        </span>
        <span class={tone === 'err' ? 'entry-outcome err' : 'entry-outcome'}>{outcomeWords(story)}</span>
        <Marks story={story} />
        {story.isPinned && <Icon name="pin" size={12} label="pinned" />}
        <span class="entry-ms">
          <Times story={story} />
        </span>
      </div>
      {isOpen && <Lanes story={story} limit={LANES_IN_ENTRY} onMessage={(seq) => onMessage(story, seq)} />}
    </div>
  );
}

function kindWord({ kind, title }: Story): string {
  if (kind === 'read') return 'read ';
  if (kind === 'prompt') return 'prompt ';
  if (kind === 'complete') return 'complete ';
  if (kind === 'subscription') return 'listening: ';
  return kind === 'connect' && !title.startsWith('connect') ? 'connect: ' : '';
}

/** The server's time; then the user's, which is not part of it. */
function Times({ story }: { readonly story: Story }): VNode {
  const isGoing = story.state === 'running' || story.state === 'open';
  const server = isGoing ? Math.max(0, now.value - story.at - story.youMs) : story.serverMs;
  const you = story.state === 'asks' ? yourTime(story, now.value) : story.youMs;
  return (
    <>
      {you > 0 && <span class="entry-you">you {duration(you)}</span>}
      <span>{duration(server)}</span>
    </>
  );
}

/** Dots for the rounds, bars for what was reported between them. */
function Marks({ story }: { readonly story: Story }): VNode | null {
  const rounds = story.rounds.length;
  const ticks = story.ticks.length + story.droppedTicks;
  if (rounds < 2 && ticks === 0) return null;
  const words = [rounds > 1 && counted(rounds, 'round'), ticks > 0 && counted(ticks, 'notification')];
  const text = words.filter(Boolean).join(', ');
  return (
    <span class="entry-marks" title={text}>
      {rounds > 1 && <i class="entry-rounds" style={{ width: `${Math.min(rounds, MARKS) * 9 - 2}px` }} />}
      {ticks > 0 && <i class="entry-ticks" style={{ width: `${Math.min(ticks, MARKS) * 3 - 2}px` }} />}
      <span class="visually-hidden">{text}</span>
    </span>
  );
}
