import type { VNode } from 'preact';
import type { ConnectionView } from '../../../src/inspector/contract/connection.js';
import { duration } from '../../parts/values/format.js';
import { live } from '../../state/store.js';

const WORDS = {
  connecting: 'connecting',
  ready: 'ready',
  reconnecting: 'reconnecting',
  failed: 'failed',
  closed: 'closed',
} as const satisfies Record<ConnectionView['status'], string>;

const TONES = {
  connecting: 'warn',
  ready: 'ok',
  reconnecting: 'warn',
  failed: 'err',
  closed: 'old',
} as const;

/** The state of a connection as a dot and a word. */
export function ConnectionState({ connection }: { readonly connection: ConnectionView }): VNode {
  if (live.value === 'lost')
    return (
      <span class="frame-state" role="status">
        <span class="frame-dot err" />
        inspector stopped
      </span>
    );
  const { status, transport, roundTripMs, reconnects } = connection;
  return (
    <>
      {transport !== undefined && <span class="label muted frame-transport">{transport}</span>}
      <span class="frame-state" role="status">
        <span class={`frame-dot ${TONES[status]}`} />
        <span class="frame-state-word">
          {WORDS[status]}
          {status === 'reconnecting' && reconnects > 0 && `, try ${reconnects}`}
        </span>
        {status === 'ready' && roundTripMs !== undefined && (
          <span class="muted frame-round-trip" title="Round trip">
            {duration(roundTripMs)}
          </span>
        )}
      </span>
    </>
  );
}
