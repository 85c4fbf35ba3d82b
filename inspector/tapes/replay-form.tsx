import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import type { TapeReplayView, TapeView } from '../../src/inspector/contract/tape.js';
import { cleanLine } from '../../src/tooling/clean.js';
import { Button } from '../parts/button.js';
import { counted } from '../parts/format.js';
import { run } from '../state/api.js';
import { catalogs, connections, current } from '../state/store.js';
import { counts, riskyTools } from './replay.js';

/** Makes the calls of a tape again, against a server that is connected. */
export function Replay({
  tape,
  replay,
  onReplay,
}: {
  readonly tape: TapeView;
  readonly replay: TapeReplayView | undefined;
  readonly onReplay: (view: TapeReplayView) => void;
}): VNode {
  const chosen = useSignal<string | undefined>(undefined);
  const allowed = useSignal<ReadonlySet<string>>(new Set());
  const isRunning = useSignal(false);
  const failure = useSignal('');
  const ready = [...connections.value.values()].filter(({ status }) => status === 'ready');
  const id = chosen.value ?? current.value ?? ready[0]?.id;
  const risky = riskyTools(tape, id === undefined ? undefined : catalogs.value.get(id));
  if (ready.length === 0) return <p class="muted">Connect to a server to make these calls again.</p>;
  const start = async (): Promise<void> => {
    if (id === undefined) return;
    isRunning.value = true;
    failure.value = '';
    try {
      onReplay(
        await run('replayTape', {
          tape: tape.id,
          connection: id,
          allow: risky.filter((name) => allowed.value.has(name)),
        }),
      );
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <form
      class="replay"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
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
        <Button type="submit" look="main" icon="play" isDisabled={isRunning.value}>
          {isRunning.value ? 'Running' : 'Run the tape'}
        </Button>
        <span role="status">{replay && summary(replay)}</span>
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
        {failure.value}
      </p>
    </form>
  );
}

/** As in `3 same, 1 different, 1 skipped`. */
function summary(replay: TapeReplayView): string {
  const { same, different, skipped } = counts(replay);
  const parts = [`${same} same`, `${different} different`];
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return `${counted(replay.calls.length, 'call')}: ${parts.join(', ')}.`;
}
