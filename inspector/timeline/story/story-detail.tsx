import type { VNode } from 'preact';
import type { MessageHead } from '../../../src/inspector/contract/message.js';
import type { ExchangeFacts, Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Icon } from '../../parts/icon.js';
import { bytes, counted, duration } from '../../parts/values/format.js';
import { addressOf } from '../../state/route.js';
import { messages } from '../../state/store.js';
import { wordOf } from '../lists/messages-view.js';
import { messagesOf, selectedMessage } from '../timeline-state.js';
import { MessageBody } from './message-body.js';
import { runAgain } from './story-actions.js';
import { StoryButtons } from './story-buttons.js';

const SHOWN = 200;

/** The messages of the selected story, and what can be done with it. */
export function StoryDetail({ story }: { readonly story: Story }): VNode {
  return (
    <div class="detail">
      <div class="detail-bar">
        <a class="detail-title" href={addressOf('call', String(story.id))} title="Open the story (g)">
          {cleanLine(story.title, 80)} #{story.run}
        </a>
        <span class="timeline-gap" />
        <StoryButtons story={story} onAgain={() => void runAgain(story)} />
      </div>
      <StoryMessages story={story} />
    </div>
  );
}

/** The messages of a story as a list, and the chosen one below it. */
export function StoryMessages({ story }: { readonly story: Story }): VNode {
  const own = messages.value.length === 0 ? [] : messagesOf(story);
  const chosen = own.find(({ seq }) => seq === selectedMessage.value) ?? firstToShow(own);
  if (!chosen) return <p class="muted detail-none">Its messages are no longer kept.</p>;
  return (
    <>
      <ul class="detail-messages" aria-label="Messages">
        {own.slice(0, SHOWN).map((head) => (
          <li key={head.seq}>
            <button
              type="button"
              class="detail-message"
              aria-pressed={head.seq === chosen.seq}
              onClick={() => {
                selectedMessage.value = head.seq;
              }}
            >
              <Icon name={head.from === 'client' ? 'right' : 'back'} size={12} />
              <span class="visually-hidden">{head.from === 'client' ? 'sent' : 'received'}</span>
              {cleanLine(wordOf(head), 60)}
              <span class="muted">{head.ms === undefined ? bytes(head.bytes) : duration(head.ms)}</span>
            </button>
          </li>
        ))}
        {own.length > SHOWN && <li class="muted label">{counted(own.length - SHOWN, 'more message')}</li>}
      </ul>
      <MessageBody head={chosen} http={httpOf(story, chosen)} />
    </>
  );
}

/** The last reply, or else the request: that is what most people want to see. */
function firstToShow(own: readonly MessageHead[]): MessageHead | undefined {
  return (
    own.findLast(({ kind, from }) => from === 'server' && (kind === 'response' || kind === 'error')) ?? own[0]
  );
}

function httpOf(story: Story, head: MessageHead): ExchangeFacts | undefined {
  return story.rounds.find(({ request, response }) => request === head.seq || response === head.seq)?.http;
}
