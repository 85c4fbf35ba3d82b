import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { WebhookReplyKind } from '../../../src/inspector/contract/events.js';
import type { Failure } from '../../../src/inspector/contract/failure.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { counted } from '../../parts/values/format.js';
import { CommandFailure, run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { settled } from '../../state/settled.js';
import type { TypedValues } from './values.js';

const REPLIES: Readonly<Record<WebhookReplyKind, string>> = {
  accept: '204, accepted',
  fail: '500, sent again later',
  gone: '410, not sent again',
  slow: 'after 12 s, too late',
};

/** Subscribes a webhook for the receiver of the inspector, and says how it replies. */
export function WebhookTrial({
  connection,
  name,
  values,
  onWrong,
}: {
  readonly connection: ConnectionView;
  readonly name: string;
  readonly values: TypedValues;
  /** Called if the arguments have a mistake. */
  readonly onWrong: () => void;
}): VNode {
  const command = useCommand();
  const origin = useSignal('');
  const id = useId();
  const own = connection.receiving.find((each) => each.name === name);
  const isReady = connection.status === 'ready' && !command.isRunning.value;

  function receive(): void {
    const args = values.take();
    if (args === undefined) return onWrong();
    void command.start(async () => {
      const begun = await run('receiveWebhooks', { connection: connection.id, name, args });
      origin.value = begun.origin;
      const { error } = await settled(begun.story);
      if (error !== undefined) throw new CommandFailure(withAdvice(error, begun.origin));
    });
  }
  const stop = (): void => void command.start(() => run('stopWebhooks', { connection: connection.id, name }));

  return (
    <>
      <div class="events-bar">
        <Button
          icon={own === undefined ? 'link' : 'stop'}
          label={
            own === undefined
              ? 'Subscribes a webhook for a receiver on this computer'
              : 'Ends the subscription of the webhook'
          }
          isDisabled={!isReady}
          onClick={own === undefined ? receive : stop}
        >
          {own === undefined ? 'Receive webhooks' : 'Stop receiving'}
        </Button>
        {own?.subscription !== undefined && (
          <>
            <label class="label" for={`${id}-reply`}>
              Reply
            </label>
            <select
              id={`${id}-reply`}
              class="field events-reply"
              value={own.reply}
              onChange={({ currentTarget }) => {
                const reply = currentTarget.value as WebhookReplyKind;
                void command.start(() => run('webhookReply', { connection: connection.id, name, reply }));
              }}
            >
              {Object.entries(REPLIES).map(([reply, words]) => (
                <option key={reply} value={reply}>
                  {words}
                </option>
              ))}
            </select>
          </>
        )}
        <span class="label events-state" role="status">
          {own?.subscription !== undefined && `Subscribed, ${counted(own.count, 'request')}`}
        </span>
      </div>
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
    </>
  );
}

/** The failures that every author meets first: nobody is logged in, or the server refuses addresses of this computer. */
function withAdvice(failure: Failure, origin: string): Failure {
  if (failure.code === 'forbidden')
    return {
      ...failure,
      advice:
        'Webhooks belong to a caller. Log in, or start a file with one: fullmcp inspect server.ts --as ada.',
    };
  if (failure.code !== 'invalid_params') return failure;
  return {
    ...failure,
    advice: `If the server refuses addresses of this computer, allow this one while you develop: webhooks: { privateHosts: ['${origin}'] }`,
  };
}
