import type { VNode } from 'preact';
import type { ChatCallView, ChatDecision } from '../../../src/inspector/contract/chat.js';
import { clean, cleanJson, cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { Icon } from '../../parts/icon.js';
import { StateMark } from '../../parts/state-mark.js';
import { QuestionPanel } from '../../questions/question-panel.js';
import { run } from '../../state/api.js';
import type { RunningCommand } from '../../state/command.js';
import { addressOf } from '../../state/route.js';
import { catalogs, stories } from '../../state/store.js';
import { StoryResult } from '../../timeline/story/story-result.js';

const WORDS: Readonly<Record<ChatCallView['state'], string>> = {
  asks: 'waits for you',
  waits: 'waits for the calls before it',
  runs: 'runs',
  done: 'done',
  declined: 'declined',
  refused: 'not sent',
  stopped: 'stopped',
};

/** A call that the model wants: all that is sent, the decision, the questions of the server, and the result. */
export function ChatCall({
  call,
  connection,
  command,
}: {
  readonly call: ChatCallView;
  readonly connection: string;
  readonly command: RunningCommand;
}): VNode {
  const { tool, args, state, why } = call;
  const story = call.story === undefined ? undefined : stories.value.get(call.story);
  const view = catalogs.value.get(connection)?.tools.find((each) => each.tool.name === tool);
  return (
    <article class="chat-call" aria-label={`Call of ${cleanLine(tool, 80)}`}>
      <div class="place-head">
        <strong class="mono">{cleanLine(tool, 200)}</strong>
        {view?.isReadOnly && <Badge title="It says that it changes nothing">read-only</Badge>}
        {view?.isDestructive && (
          <Badge tone="warn" title="It says that it may destroy something">
            destructive
          </Badge>
        )}
        {story ? <StateMark state={story.state} /> : <span class="muted">{WORDS[state]}</span>}
        {story && (
          <a
            class="button quiet icon"
            href={addressOf('call', String(story.id))}
            title="The story of this call"
          >
            <Icon name="timeline" label="The story of this call" />
          </a>
        )}
      </div>
      {/* All of it, so that nothing is agreed to that was not shown. */}
      <figure class="chat-args" aria-label="Arguments">
        <pre tabIndex={0}>{cleanJson(args)}</pre>
      </figure>
      {why !== undefined && <p>{clean(why)}</p>}
      {state === 'asks' && <Decide call={call} connection={connection} command={command} />}
      {story && <QuestionPanel story={story} />}
      {story && story.endedAt !== undefined && (
        <details>
          <summary class="label">Result</summary>
          <StoryResult story={story} />
        </details>
      )}
    </article>
  );
}

function Decide({
  call,
  connection,
  command,
}: {
  readonly call: ChatCallView;
  readonly connection: string;
  readonly command: RunningCommand;
}): VNode {
  const decide = (decision: ChatDecision) => (): void => {
    const { id, digest } = call;
    void command.start(() => run('decideCall', { connection, call: id, digest, decision }));
  };
  return (
    <div class="place-head">
      <Button look="main" onClick={decide('once')}>
        Call it
      </Button>
      <Button
        label="This tool is not asked about again in this chat, as long as its definition is the same"
        onClick={decide('always')}
      >
        Always in this chat
      </Button>
      <Button onClick={decide('decline')}>Decline</Button>
    </div>
  );
}
