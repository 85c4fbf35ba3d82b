import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { ToldEvent, WebhookRequestView } from '../../../src/inspector/contract/events.js';
import { tryParse } from '../../../src/jsonrpc/try-parse.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { clock, counted } from '../../parts/values/format.js';
import { told } from '../../state/store.js';

const AT_FIRST = 50;

/** The events of a type that were told, the newest first. */
export function ToldList({
  connection,
  name,
}: {
  readonly connection: string;
  readonly name: string;
}): VNode | null {
  const limit = useSignal(AT_FIRST);
  const own = told.value.filter((event) => event.connection === connection && event.name === name);
  if (own.length === 0) return null;
  const rest = own.length - limit.value;
  return (
    <section class="events-told" aria-label="Events">
      <h2 class="label muted">{counted(own.length, 'event')}, the newest first</h2>
      <ol class="events-list">
        {own
          .slice(-limit.value)
          .reverse()
          .map((event) => (
            <Told key={event.seq} event={event} />
          ))}
      </ol>
      {rest > 0 && (
        <Button
          look="quiet"
          onClick={() => {
            limit.value += 2 * AT_FIRST;
          }}
        >
          {counted(rest, 'older event')}
        </Button>
      )}
    </section>
  );
}

const VIA = { push: 'stream', poll: 'poll', webhook: 'webhook' } as const;
const REPLIES: Readonly<Record<WebhookRequestView['reply'], string>> = {
  accept: 'accepted',
  fail: 'replied 500',
  gone: 'replied 410',
  slow: 'too late',
};

function Told({ event }: { readonly event: ToldEvent }): VNode {
  const { at, via, eventId, timestamp, data, isCut, request } = event;
  const isOpen = useSignal(false);
  return (
    <li>
      <details
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open;
        }}
      >
        <summary class="events-row">
          <span class="muted mono">{clock(at, true)}</span>
          <Badge>{VIA[via]}</Badge>
          {request !== undefined && <RequestMarks request={request} />}
          <span class="mono events-id">{cleanLine(eventId, 80)}</span>
          <span class="mono muted events-data">{cleanLine(data, 200)}</span>
        </summary>
        {isOpen.value && (
          <>
            {timestamp !== '' && <p class="label muted">Time of the event: {cleanLine(timestamp, 60)}</p>}
            {request !== undefined && (
              <CodeBlock
                text={Object.entries(request.headers)
                  .map(([name, value]) => `${name}: ${value}`)
                  .join('\n')}
                label={`Headers of ${cleanLine(eventId, 80)}`}
              />
            )}
            <CodeBlock
              text={isCut ? `${data}…` : (JSON.stringify(tryParse(data), undefined, 2) ?? '')}
              language="json"
              label={`Data of ${cleanLine(eventId, 80)}`}
            />
          </>
        )}
      </details>
    </li>
  );
}

/** The facts about a request: whether it is signed, its attempt, and the reply. */
function RequestMarks({
  request: { kind, isSigned, attempt, reply },
}: {
  readonly request: WebhookRequestView;
}): VNode {
  return (
    <>
      <Badge tone={isSigned ? 'ok' : 'err'}>{isSigned ? 'signed' : 'not signed'}</Badge>
      {kind !== 'event' && <Badge tone="ask">{kind}</Badge>}
      {attempt > 1 && <Badge>attempt {attempt}</Badge>}
      <Badge tone={reply === 'accept' ? 'plain' : 'warn'}>{REPLIES[reply]}</Badge>
    </>
  );
}
