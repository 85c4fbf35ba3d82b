import './timeline.css';
import './lanes/lanes.css';
import './story/story.css';
import type { VNode } from 'preact';
import type { Story } from '../../src/inspector/contract/story.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { CopyButton } from '../parts/controls/copy-button.js';
import { useKeys } from '../parts/controls/keys.js';
import { EarlierNote } from '../parts/earlier-note.js';
import { Empty } from '../parts/empty.js';
import { bytes, counted, duration, moment } from '../parts/values/format.js';
import { JsonTree } from '../parts/values/json-tree.js';
import { QuestionPanel } from '../questions/question-panel.js';
import { addressOf, go } from '../state/route.js';
import { connections, stories } from '../state/store.js';
import { LaneHeads, Lanes } from './lanes/lanes.js';
import { stateOf } from './model/words.js';
import { now, useClock } from './now.js';
import { StateWord } from './state-mark.js';
import { JournalGrid } from './story/journal-grid.js';
import { Program } from './story/program.js';
import { canEdit, canRunAgain, editStory, runAgain, stopStory } from './story/story-actions.js';
import { StoryButtons } from './story/story-buttons.js';
import { StoryMessages } from './story/story-detail.js';
import { StoryResult } from './story/story-result.js';

const LANES_AT_MOST = 400;

/** The story of one call: what was sent, asked, answered, what ran again, what came back, and how long each took. */
export function CallPage({ id }: { readonly id: number }): VNode {
  const story = stories.value.get(id);
  if (!story)
    return (
      <>
        <h1 class="visually-hidden">Story of a call</h1>
        <Empty title={`There is no call ${Number.isNaN(id) ? 'with this number' : id}.`}>
          It was cleared, or the inspector was started again since.
        </Empty>
      </>
    );
  return <CallStory key={id} story={story} />;
}

function CallStory({ story }: { readonly story: Story }): VNode {
  const isGoing = story.endedAt === undefined;
  // Most people look for the result; the course comes first only if they took part in it.
  const wasAsked = story.questions.length > 0;
  useClock(isGoing);
  const again = (): void => {
    void runAgain(story).then((id) => id !== undefined && go('call', String(id)));
  };
  useKeys({
    r: () => (canRunAgain(story) ? again() : false),
    e: () => (canEdit(story) ? editStory(story) : false),
    'Ctrl+.': () => (isGoing ? void stopStory(story) : false),
  });
  return (
    <article class="place story" aria-label={`Story of ${cleanLine(story.title, 80)}`}>
      <header class="story-head">
        <div class="place-head">
          <h1 class="mono">{cleanLine(story.title, 120)}</h1>
          <StateWord {...stateOf(story)} />
          <div class="place-actions">
            <StoryButtons story={story} onAgain={again} isWide />
            <CopyButton text={() => location.href} label="Copy the address of this story" />
          </div>
        </div>
        <Facts story={story} />
      </header>
      <EarlierNote story={story} />
      <QuestionPanel story={story} />
      {!wasAsked && <StoryResult story={story} />}
      {story.program && <Program story={story} />}
      {story.journal && story.journal.rows.length > 0 && (
        <JournalGrid story={story} journal={story.journal} />
      )}
      {!story.earlier && (
        <section class="story-part" aria-label="The course of the call">
          <h2>What happened</h2>
          <div class="story-lanes">
            <LaneHeads />
            <Lanes story={story} limit={LANES_AT_MOST} />
          </div>
        </section>
      )}
      {story.args && Object.keys(story.args).length > 0 && !story.program && (
        <section class="story-part" aria-label="Arguments">
          <h2>Arguments</h2>
          <JsonTree value={story.args} label="Arguments" />
        </section>
      )}
      {wasAsked && <StoryResult story={story} />}
      {!story.earlier && (
        <section class="story-part" aria-label="Messages">
          <h2>Messages</h2>
          <StoryMessages story={story} />
        </section>
      )}
    </article>
  );
}

function Facts({ story }: { readonly story: Story }): VNode {
  const { at, youMs, serverMs, state, rounds, repeats, task, bytesOut = 0, bytesIn = 0 } = story;
  const isGoing = state === 'running' || state === 'open';
  const original = repeats === undefined ? undefined : stories.value.get(repeats);
  const server = connections.value.get(story.connection);
  return (
    <p class="story-facts muted">
      <span>#{story.run}</span>
      <span>{moment(at)}</span>
      {server && (
        <span>
          {cleanLine(server.name, 60)} {story.earlier?.revision ?? server.revision}
        </span>
      )}
      <span>server {duration(isGoing ? Math.max(0, now.value - at - youMs) : serverMs)}</span>
      {youMs > 0 && <span>you {duration(youMs)}</span>}
      {rounds.length > 1 && <span>{counted(rounds.length, 'round')}</span>}
      {bytesOut + bytesIn > 0 && (
        <span>
          {bytes(bytesOut)} sent, {bytes(bytesIn)} received
        </span>
      )}
      {original && <a href={addressOf('call', String(original.id))}>repeats #{original.run}</a>}
      {task && <a href={addressOf('task', task.id)}>task {cleanLine(task.id, 12)}</a>}
    </p>
  );
}
