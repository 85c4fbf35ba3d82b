import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { DeliveriesView } from '../../../src/inspector/contract/events.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { counted } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';

type Delivery = DeliveriesView['subscriptions'][number];

const TONES: Readonly<Record<Delivery['status'], Tone>> = { active: 'ok', suspended: 'err', ending: 'plain' };

/** The webhooks of a type, with their attempts, and the events that were given up. */
export function DeliveryList({
  connection,
  name,
  view,
  isRefreshing,
  onRefresh,
}: {
  readonly connection: string;
  readonly name: string;
  readonly view: Signal<DeliveriesView>;
  readonly isRefreshing: boolean;
  readonly onRefresh: () => Promise<unknown>;
}): VNode {
  const own = view.value.subscriptions.filter((each) => each.name === name);
  const command = useCommand();
  const sent = useSignal('');
  const again = (subscription: string, eventId?: string): void =>
    void command.start(async () => {
      const which = { connection, subscription, ...(eventId !== undefined && { eventId }) };
      const { count } = await run('redeliver', which);
      sent.value = `${counted(count, 'event')} sent again`;
      await onRefresh();
    });
  return (
    <section class="events-deliveries" aria-label="Webhooks">
      <div class="events-bar">
        <h2 class="label muted">{counted(own.length, 'webhook')}</h2>
        <Button
          look="quiet"
          icon="again"
          label="Read the deliveries again"
          isDisabled={isRefreshing}
          onClick={() => void onRefresh()}
        />
        <span class="label events-state" role="status">
          {sent.value}
        </span>
      </div>
      {own.map((each) => (
        <Subscription
          key={each.subscription}
          delivery={each}
          isBusy={command.isRunning.value}
          onAgain={again}
        />
      ))}
      {view.value.isCut && (
        <p class="muted">There are more. `fullmcp events deliveries` prints all of them.</p>
      )}
      {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
    </section>
  );
}

function Subscription({
  delivery: { subscription, url, subject, status, lastDeliveryAt, lastError, retrying, dead },
  isBusy,
  onAgain,
}: {
  readonly delivery: Delivery;
  readonly isBusy: boolean;
  readonly onAgain: (subscription: string, eventId?: string) => void;
}): VNode {
  return (
    <div class="events-webhook">
      <p class="events-row">
        <Badge tone={TONES[status]}>{status}</Badge>
        <span class="mono events-id">{cleanLine(url, 300)}</span>
        <span class="muted">{cleanLine(subject, 80)}</span>
        {lastError !== undefined && <Badge tone="err">{cleanLine(lastError, 60)}</Badge>}
      </p>
      <p class="label muted">
        <span class="mono">{cleanLine(subscription, 80)}</span>,{' '}
        {lastDeliveryAt === undefined
          ? 'nothing delivered yet'
          : `last delivery ${cleanLine(lastDeliveryAt, 40)}`}
      </p>
      {dead.length > 0 && (
        <Button look="quiet" icon="again" isDisabled={isBusy} onClick={() => onAgain(subscription)}>
          Send all again
        </Button>
      )}
      {retrying.length + dead.length > 0 && (
        <table class="events-table">
          <thead>
            <tr>
              <th scope="col">Event</th>
              <th scope="col">Attempts</th>
              <th scope="col">State</th>
              <th scope="col">Again</th>
            </tr>
          </thead>
          <tbody>
            {retrying.map((event) => (
              <tr key={event.eventId}>
                <td class="mono">{cleanLine(event.eventId, 80)}</td>
                <td>{event.attempts}</td>
                <td>again at {cleanLine(event.nextAttemptAt, 40)}</td>
                <td />
              </tr>
            ))}
            {dead.map((event) => (
              <tr key={`dead ${event.eventId}`}>
                <td class="mono">{cleanLine(event.eventId, 80)}</td>
                <td>{event.attempts}</td>
                <td>
                  given up: {cleanLine(event.reason, 60)}, {cleanLine(event.at, 40)}
                </td>
                <td>
                  <Button
                    look="quiet"
                    icon="again"
                    label={`Send ${cleanLine(event.eventId, 80)} again`}
                    isDisabled={isBusy}
                    onClick={() => onAgain(subscription, event.eventId)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
