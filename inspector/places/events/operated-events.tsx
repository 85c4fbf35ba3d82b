import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { DeliveriesView } from '../../../src/inspector/contract/events.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { SchemaForm } from '../../form/schema-form.js';
import { Button } from '../../parts/controls/button.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { run } from '../../state/api.js';
import { useCommand } from '../../state/command.js';
import { DeliveryList } from './delivery-list.js';
import type { ListedEventType } from './listed-event.js';
import { focusMistake, useValues } from './values.js';

/** The parts for the author of a server: a test event, and the deliveries of webhooks. */
export function OperatedEvents({
  connection,
  type,
}: {
  readonly connection: ConnectionView;
  readonly type: ListedEventType;
}): VNode | null {
  const view = useSignal<DeliveriesView | undefined>(undefined);
  const command = useCommand();
  const isReady = connection.status === 'ready';
  const refresh = (): Promise<boolean> =>
    command.start(async () => {
      view.value = await run('deliveries', { connection: connection.id });
    });
  useEffect(() => {
    if (isReady) void refresh();
  }, [connection.id, isReady, connection.connectedAt]);
  const failure = command.failure.value;
  if (failure !== undefined) return <ErrorPanel title="The deliveries cannot be read." failure={failure} />;
  if (view.value?.isOperated !== true) return null;
  return (
    <>
      <TestEvent connection={connection} type={type} onSent={refresh} />
      {view.value.hasWebhooks && type.delivery.includes('webhook') && (
        <DeliveryList
          connection={connection.id}
          name={type.name}
          view={view as Signal<DeliveriesView>}
          isRefreshing={command.isRunning.value}
          onRefresh={refresh}
        />
      )}
    </>
  );
}

/** Emits an event with the data in a form. */
function TestEvent({
  connection,
  type: { name, payloadSchema = { type: 'object' } },
  onSent,
}: {
  readonly connection: ConnectionView;
  readonly type: ListedEventType;
  readonly onSent: () => Promise<unknown>;
}): VNode {
  const data = useValues(payloadSchema);
  const command = useCommand();
  const sent = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  function send(): void {
    const values = data.take();
    if (values === undefined) return focusMistake(form.current);
    sent.value = '';
    void command.start(async () => {
      const { eventId } = await run('emitEvent', { connection: connection.id, name, data: values });
      sent.value = `Sent ${cleanLine(eventId, 80)}`;
      await onSent();
    });
  }
  return (
    <details class="events-test">
      <summary>Send a test event</summary>
      <form
        ref={form}
        class="events-form"
        noValidate={true}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <SchemaForm
          schema={payloadSchema}
          value={data.value.value}
          onChange={(value) => {
            data.value.value = value;
          }}
          errors={data.errors}
          idPrefix="event-data"
        />
        <div class="events-bar">
          <Button
            type="submit"
            icon="play"
            label="Emits the event in the server, for all of its subscribers"
            isDisabled={connection.status !== 'ready' || command.isRunning.value}
          >
            Send
          </Button>
          <span class="label events-state" role="status">
            {sent.value}
          </span>
        </div>
        {command.failure.value !== undefined && <ErrorPanel failure={command.failure.value} />}
      </form>
    </details>
  );
}
