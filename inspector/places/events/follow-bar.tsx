import { useSignal } from '@preact/signals';
import type { RefObject, VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { Button, Keys } from '../../parts/controls/button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { clock, counted } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { outcomeOf, settled } from '../../state/settled.js';
import { ownStories, stories } from '../../state/store.js';
import type { ListedEventType } from './listed-event.js';
import { focusMistake, type TypedValues } from './values.js';

/** Follows a type, or polls it once, with the arguments in the form. */
export function FollowBar({
  connection,
  type: { name, delivery },
  values,
  form,
}: {
  readonly connection: ConnectionView;
  readonly type: ListedEventType;
  readonly values: TypedValues;
  readonly form: RefObject<HTMLFormElement | null>;
}): VNode {
  const command = useCommand();
  const polled = useSignal('');
  const follow = connection.follows.find((each) => each.name === name);
  const isReady = connection.status === 'ready' && !command.isRunning.value;
  const canPoll = delivery.includes('poll');
  const canFollow = canPoll || delivery.includes('push');
  const failed = follow === undefined ? lastFailure(name) : undefined;

  function send(work: (args: Record<string, unknown>) => Promise<unknown>): void {
    const args = values.take();
    if (args === undefined) return focusMistake(form.current);
    polled.value = '';
    void command.start(() => work(args));
  }
  const toggle = (): void =>
    follow === undefined
      ? send((args) => run('followEvents', { connection: connection.id, name, args }))
      : void command.start(() => run('unfollowEvents', { connection: connection.id, name }));
  const poll = (): void =>
    send(async (args) => {
      const { story } = await run('pollEvents', { connection: connection.id, name, args });
      polled.value = await wordsOfPoll(story);
    });
  useKeys({ 'Ctrl+Enter': () => (canFollow && isReady ? toggle() : false) });

  return (
    <>
      <div class="events-bar">
        {canFollow && (
          <Button
            look={follow === undefined ? 'main' : 'plain'}
            icon={follow === undefined ? 'play' : 'stop'}
            keys="Ctrl+Enter"
            label={follow === undefined ? 'Shows events as they happen' : 'Ends the subscription'}
            isDisabled={!isReady}
            onClick={toggle}
          >
            {follow === undefined ? 'Follow' : 'Stop'} <Keys of="Ctrl+Enter" />
          </Button>
        )}
        {canPoll && (
          <Button
            icon="again"
            label="Asks once for the events since the last time"
            isDisabled={!isReady}
            onClick={poll}
          >
            Poll
          </Button>
        )}
        {!canFollow && <span class="muted">The server tells these events only to webhooks.</span>}
        <span class="label events-state" role="status">
          {follow === undefined ? polled.value : following(follow)}
        </span>
      </div>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
      {command.failure.value === undefined && failed !== undefined && <ErrorPanel failure={failed} />}
    </>
  );
}

type Follow = ConnectionView['follows'][number];

function following({ via, since, count, hasGap }: Follow): string {
  if (via === undefined) return 'Waiting for the server';
  const how = via === 'push' ? 'on a stream' : 'by polling';
  const gap = hasGap ? ', some may be missing' : '';
  return `Following ${how} since ${clock(since)}, ${counted(count, 'event')}${gap}`;
}

/** The failure that ended the latest subscription. */
function lastFailure(name: string) {
  const latest = ownStories.value.findLast(
    ({ kind, title, method }) => kind === 'subscription' && title === name && method === 'events/stream',
  );
  return latest?.state === 'error' ? latest.error : undefined;
}

async function wordsOfPoll(id: number): Promise<string> {
  const story = await settled(id);
  if (story.state !== 'ok') throw new Error(story.error?.message ?? 'The poll failed.');
  const { events, truncated } = (await outcomeOf(stories.value.get(id) ?? story)) ?? {};
  const count = Array.isArray(events) ? events.length : 0;
  const gap = truncated === true ? ' Some may be missing.' : '';
  return count === 0
    ? `No event yet. The next poll asks for those from ${clock(story.at)} on.${gap}`
    : `${counted(count, 'event')}.${gap}`;
}
