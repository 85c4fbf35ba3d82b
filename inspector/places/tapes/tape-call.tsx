import type { VNode } from 'preact';
import type { TapeCall, TapeReplayView } from '../../../src/inspector/contract/tape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { duration } from '../../parts/values/format.js';
import { JsonTree } from '../../parts/values/json-tree.js';
import { StateMark } from '../../timeline/state-mark.js';

const SHOWN = 200;

/** One call of a tape: what was sent, what was reported, what came back; and what is different now. */
export function TapeCallView({
  call,
  replay,
}: {
  readonly call: TapeCall;
  readonly replay: TapeReplayView['calls'][number] | undefined;
}): VNode {
  const isError = call.error !== undefined || call.outcome?.['isError'] === true;
  return (
    <div class="tape-call">
      {replay?.reason !== undefined && <p class="tape-reason">{cleanLine(replay.reason, 400)}</p>}
      {replay?.differences && replay.differences.length > 0 && (
        <Differences differences={replay.differences} />
      )}
      <div class="lane right">
        <span class="lane-time">{duration(call.at)}</span>
        <span class="lane-line">
          <span class="lane-label">
            {cleanLine(call.method, 60)}
            {call.name !== undefined && <span class="lane-detail">{cleanLine(call.name, 60)}</span>}
          </span>
        </span>
      </div>
      <JsonTree value={call.params} label="Request" openDepth={3} />
      {call.notifications.slice(0, SHOWN).map((notification, index) => (
        <div key={index}>
          <div class="lane left">
            <span class="lane-time" />
            <span class="lane-line dotted">
              <span class="lane-label">{cleanLine(notification.method, 60)}</span>
            </span>
          </div>
          {notification.params && <JsonTree value={notification.params} label="Notification" openDepth={2} />}
        </div>
      ))}
      <div class="lane left">
        <span class="lane-time">
          {call.ms === undefined ? '' : duration(call.at + call.ms + (call.youMs ?? 0))}
        </span>
        <span class={isError ? 'lane-line err' : 'lane-line'}>
          <span class="lane-label">
            <StateMark tone={isError ? 'err' : 'ok'} />
            {isError ? 'error' : 'ok'}
          </span>
        </span>
        <span class="lane-note">{call.youMs === undefined ? '' : `you ${duration(call.youMs)}`}</span>
        <span class="lane-ms">{call.ms === undefined ? '' : duration(call.ms)}</span>
      </div>
      <JsonTree value={call.error ?? call.outcome ?? {}} label="Response" openDepth={3} />
    </div>
  );
}

function Differences({
  differences,
}: {
  readonly differences: NonNullable<TapeReplayView['calls'][number]['differences']>;
}): VNode {
  return (
    <table class="tape-differences">
      <caption class="label">What is different now</caption>
      <thead>
        <tr>
          <th scope="col">where</th>
          <th scope="col">on the tape</th>
          <th scope="col">now</th>
        </tr>
      </thead>
      <tbody>
        {differences.slice(0, SHOWN).map(({ path, before, after }) => (
          <tr key={path}>
            <th scope="row">{cleanLine(path, 200) || 'the whole'}</th>
            <td>{before === undefined ? <span class="muted">nothing</span> : cleanLine(before, 300)}</td>
            <td>{after === undefined ? <span class="muted">nothing</span> : cleanLine(after, 300)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
