import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { isObject } from '../../../src/jsonrpc/message.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { clock, counted } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';

/** Subscribes to the changes of a resource, and counts them. */
export function SubscribeSwitch({
  connection,
  uri,
}: {
  readonly connection: ConnectionView;
  readonly uri: string;
}): VNode {
  const { id, subscriptions } = connection;
  const command = useCommand();
  const subscription = subscriptions.find((each) => each.uri === uri);
  const resources = connection.server?.capabilities['resources'];
  const isOffered = isObject(resources) && resources['subscribe'] === true;
  if (!isOffered && subscription === undefined)
    return <span class="label muted">The server does not offer subscriptions.</span>;
  return (
    <>
      <Button
        icon="bell"
        isPressed={subscription !== undefined}
        isDisabled={connection.status !== 'ready' || command.isRunning.value}
        onClick={() =>
          void command.start(() =>
            run(subscription === undefined ? 'subscribe' : 'unsubscribe', { connection: id, uri }),
          )
        }
      >
        {subscription === undefined ? 'Subscribe' : 'Subscribed'}
      </Button>
      {subscription !== undefined && (
        <span class="label resources-updates" role="status">
          {subscription.updates === 0
            ? `listening since ${clock(subscription.since)}`
            : `${counted(subscription.updates, 'update')}, latest ${clock(subscription.lastUpdate ?? subscription.since)}`}
        </span>
      )}
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
    </>
  );
}
