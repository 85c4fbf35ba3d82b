import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { MessageHead } from '../../../src/inspector/contract/message.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { layout } from '../../parts/list/layout.js';
import { bytes, clock, duration } from '../../parts/values/format.js';
import { LaneHeads } from '../lanes/lanes.js';
import { itemsAfter } from '../model/search.js';
import { StateMark } from '../state-mark.js';
import { MessageBody } from '../story/message-body.js';
import { query, selectedMessage, shownMessages } from '../timeline-state.js';
import { Below } from './below.js';
import { VirtualList } from './virtual-list.js';

const ROW = 24;
const NONE: ReadonlyMap<number, number> = new Map();

/** Every message on the wire, one below the other. */
export function MessagesView(): VNode {
  const shown = shownMessages.value;
  const rows = useMemo(() => layout(shown.length, ROW, NONE), [shown]);
  const selected = selectedMessage.value;
  const place = selected === undefined ? -1 : placeOf(shown, selected);
  const head = shown[place];
  if (shown.length === 0)
    return (
      <Empty title={query.value ? `No message has “${query.value}” in it.` : 'No message was sent yet.'} />
    );
  return (
    <>
      <LaneHeads />
      <VirtualList
        id="timeline-list"
        label="Messages, oldest first"
        rows={rows}
        keyOf={(index) => shown[index]?.seq ?? -1}
        indexOf={(seq) => placeOf(shown, seq)}
        selected={selected}
        onSelect={(seq) => {
          selectedMessage.value = seq;
        }}
        followsEnd
        itemOf={(index) => shown[index]}
        draw={drawMessage}
      />
      {head && (
        <Below>
          <div class="detail">
            <MessageBody head={head} />
          </div>
        </Below>
      )}
    </>
  );
}

function drawMessage(head: MessageHead | undefined): VNode | null {
  // A row that is used again for the other direction is made anew: Chromium sometimes drew the arrow of the message before.
  return head ? <MessageRow key={head.from} head={head} /> : null;
}

function MessageRow({ head }: { readonly head: MessageHead }): VNode {
  const side = head.from === 'client' ? 'right' : 'left';
  return (
    <div class={`lane message-row ${side}`}>
      <span class="lane-time">{clock(head.at, true)}</span>
      <span class={`lane-line ${toneOf(head)}`}>
        <span class="lane-label">
          {head.kind === 'response' && <StateMark tone="ok" />}
          {(head.kind === 'error' || head.kind === 'unreadable') && <StateMark tone="err" />}
          {head.kind === 'notification' && <span class="message-bar" aria-hidden="true" />}
          {cleanLine(wordOf(head), 80)}
          {head.name !== undefined && <span class="lane-detail">{cleanLine(head.name, 60)}</span>}
          {head.says !== undefined && (
            <span class="lane-says" title={cleanLine(head.says, 200)}>
              {cleanLine(head.says, 200)}
            </span>
          )}
        </span>
      </span>
      <span class="lane-note">
        {head.rpcId === undefined ? '' : `#${cleanLine(String(head.rpcId), 12)} `}
        {bytes(head.bytes)}
      </span>
      <span class="lane-ms">{head.ms === undefined ? '' : duration(head.ms)}</span>
    </div>
  );
}

/** The name of a message: its method, and for replies which kind. */
export function wordOf({ kind, method, says }: MessageHead): string {
  // The words of the message need the room.
  if (says !== undefined) return (method ?? kind).replace('notifications/', '');
  if (kind === 'unreadable') return 'unreadable';
  if (kind === 'error') return `error ${method ?? ''}`.trim();
  if (kind === 'response') return `ok ${method ?? ''}`.trim();
  return method ?? kind;
}

function toneOf({ kind }: MessageHead): string {
  if (kind === 'error' || kind === 'unreadable') return 'err';
  return kind === 'notification' ? 'dotted' : '';
}

function placeOf(shown: readonly MessageHead[], seq: number): number {
  const place = shown.length - itemsAfter(shown, seq - 1, (head) => head.seq).length;
  return shown[place]?.seq === seq ? place : -1;
}
