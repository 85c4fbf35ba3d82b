import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { SchemaForm } from '../../form/schema-form.js';
import { Badge } from '../../parts/badge.js';
import { useEntering } from '../../parts/list/entering.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { FollowBar } from './follow-bar.js';
import type { ListedEventType } from './listed-event.js';
import { OperatedEvents } from './operated-events.js';
import { ToldList } from './told-list.js';
import { focusMistake, useValues } from './values.js';
import { WebhookTrial } from './webhook-trial.js';

const WAYS: Readonly<Record<string, string>> = { push: 'stream', poll: 'poll', webhook: 'webhook' };

/** One type of events: the arguments of a subscription, what was told, and its data. */
export function EventPage({
  connection,
  type,
}: {
  readonly connection: ConnectionView;
  readonly type: ListedEventType;
}): VNode {
  const { name, description, delivery, inputSchema, payloadSchema } = type;
  const args = useValues(inputSchema);
  const form = useRef<HTMLFormElement>(null);
  useEntering(name, form);
  return (
    <article class="events-view">
      <header class="events-head">
        <h1 class="mono">{cleanLine(name, 120)}</h1>
        <p class="events-ways">
          {delivery.map((way) => (
            <Badge key={way}>{WAYS[way] ?? cleanLine(way, 20)}</Badge>
          ))}
        </p>
        {description !== '' && <p>{clean(description.slice(0, 2000))}</p>}
      </header>
      <form ref={form} class="events-form" noValidate={true} onSubmit={(event) => event.preventDefault()}>
        <h2 class="label muted">Arguments of the subscription</h2>
        <SchemaForm
          schema={inputSchema}
          value={args.value.value}
          onChange={(value) => {
            args.value.value = value;
          }}
          errors={args.errors}
          idPrefix="event-argument"
        />
        <FollowBar connection={connection} type={type} values={args} form={form} />
        {delivery.includes('webhook') && (
          <WebhookTrial
            connection={connection}
            name={name}
            values={args}
            onWrong={() => focusMistake(form.current)}
          />
        )}
      </form>
      <ToldList connection={connection.id} name={name} />
      <OperatedEvents connection={connection} type={type} />
      {payloadSchema !== undefined && (
        <details class="events-schema">
          <summary>Schema of the data</summary>
          <CodeBlock
            text={JSON.stringify(payloadSchema, undefined, 2)}
            language="json"
            label="Schema of the data"
          />
        </details>
      )}
    </article>
  );
}
