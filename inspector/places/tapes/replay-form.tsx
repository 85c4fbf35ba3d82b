import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { TapeReplayView, TapeView } from '../../../src/inspector/contract/tape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { counted } from '../../parts/values/format.js';
import { catalogs, connections, current } from '../../state/store.js';
import { counts, riskyTools } from './replay.js';
import { replay, replayOf } from './replay-state.js';

/** Makes the calls of a tape again, against a server that is connected. */
export function Replay({ tape }: { readonly tape: TapeView }): VNode {
  const chosen = useSignal<string | undefined>(undefined);
  const allowed = useSignal<ReadonlySet<string>>(new Set());
  const { isRunning, failure, view } = replayOf(tape.id);
  const ready = [...connections.value.values()].filter(({ status }) => status === 'ready');
  const id = chosen.value ?? current.value ?? ready[0]?.id;
  const risky = riskyTools(tape, id === undefined ? undefined : catalogs.value.get(id));
  if (ready.length === 0) return <p class="muted">Connect to a server to make these calls again.</p>;
  const start = (): void => {
    if (id === undefined) return;
    const allow = risky.filter((name) => allowed.value.has(name));
    void replay({ tape: tape.id, connection: id, allow });
  };
  return (
    <form
      class="replay"
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <h3>Make these calls again</h3>
      <div class="replay-line">
        <label class="label" for="replay-server">
          against
        </label>
        <select
          id="replay-server"
          class="field replay-server"
          value={id}
          onChange={(event) => {
            chosen.value = event.currentTarget.value;
          }}
        >
          {ready.map((each) => (
            <option key={each.id} value={each.id}>
              {cleanLine(each.name, 60)}
            </option>
          ))}
        </select>
        <Button type="submit" look="main" icon="play" isDisabled={isRunning}>
          {isRunning ? 'Running' : 'Run the tape'}
        </Button>
        <span role="status">{view && summary(view)}</span>
      </div>
      {risky.length > 0 && (
        <fieldset class="replay-risky">
          <legend class="label">These may change something. Only those that you allow are called.</legend>
          {risky.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={allowed.value.has(name)}
                onChange={(event) => {
                  const next = new Set(allowed.value);
                  if (event.currentTarget.checked) next.add(name);
                  else next.delete(name);
                  allowed.value = next;
                }}
              />
              <span class="mono">{cleanLine(name, 80)}</span>
            </label>
          ))}
        </fieldset>
      )}
      <p class="tapes-failure" role="alert">
        {failure}
      </p>
    </form>
  );
}

/** As in `3 same, 1 different, 1 skipped`. */
function summary(view: TapeReplayView): string {
  const { same, different, skipped } = counts(view);
  const parts = [`${same} same`, `${different} different`];
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return `${counted(view.calls.length, 'call')}: ${parts.join(', ')}.`;
}
