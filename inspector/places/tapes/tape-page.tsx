import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TapeView } from '../../../src/inspector/contract/tape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { counted, duration } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { go } from '../../state/route.js';
import { tapes } from '../../state/store.js';
import { StateWord } from '../../timeline/state-mark.js';
import { Replay } from './replay-form.js';
import { forgetReplay, replayOf } from './replay-state.js';
import { TapeCallView } from './tape-call.js';

const SHOWN = 500;

/** One tape: its calls on the left, the chosen one on the right, and the run against a server below. */
export function TapePage({ tape }: { readonly tape: TapeView }): VNode {
  const at = useSignal(0);
  const { view } = replayOf(tape.id);
  const { calls } = tape;
  const step = (by: number): void => {
    at.value = Math.min(calls.length - 1, Math.max(0, at.value + by));
  };
  useKeys({ j: () => step(1), k: () => step(-1), ']': () => step(1), '[': () => step(-1) });
  useEffect(() => {
    at.value = view?.calls.find(({ result }) => result === 'different')?.call ?? at.value;
  }, [view]);
  const call = calls[at.value];
  const close = async (): Promise<void> => {
    await run('closeTape', { tape: tape.id });
    forgetReplay(tape.id);
    tapes.value = new Map([...tapes.value].filter(([id]) => id !== tape.id));
    go('tapes');
  };
  return (
    <section class="tape" aria-label={`Tape ${cleanLine(tape.name, 80)}`}>
      <div class="tape-head">
        <h2>{cleanLine(tape.name, 120)}</h2>
        <span class="muted">{counted(calls.length, 'call')}</span>
        <span class="timeline-gap" />
        <Button
          look="quiet"
          icon="back"
          label="Earlier call"
          keys="["
          isDisabled={at.value === 0}
          onClick={() => step(-1)}
        />
        <span class="mono">
          {calls.length === 0 ? 0 : at.value + 1} of {calls.length}
        </span>
        <Button
          look="quiet"
          icon="right"
          label="Later call"
          keys="]"
          isDisabled={at.value >= calls.length - 1}
          onClick={() => step(1)}
        />
        <Button look="quiet" icon="close" label="Close the tape" onClick={() => void close()} />
      </div>
      <Replay tape={tape} />
      <div class="tape-body">
        <ol class="tape-calls">
          {calls.slice(0, SHOWN).map((each, index) => {
            const outcome = view?.calls.find((result) => result.call === index)?.result;
            return (
              <li key={index}>
                <button
                  type="button"
                  class="tape-row"
                  aria-pressed={index === at.value}
                  onClick={() => {
                    at.value = index;
                  }}
                >
                  <span class="mono muted">{duration(each.at)}</span>
                  <span class="mono tape-name">{cleanLine(each.name ?? each.method, 60)}</span>
                  {outcome && <Outcome result={outcome} />}
                  <span class="label muted">{each.ms === undefined ? '' : duration(each.ms)}</span>
                </button>
              </li>
            );
          })}
          {calls.length > SHOWN && (
            <li class="muted">{counted(calls.length - SHOWN, 'more call')}, which [ and ] reach</li>
          )}
        </ol>
        {call && <TapeCallView call={call} replay={view?.calls.find((each) => each.call === at.value)} />}
      </div>
    </section>
  );
}

/** The outcome of a call that was made again, as a shape and a word. */
function Outcome({ result }: { readonly result: 'same' | 'different' | 'skipped' }): VNode {
  const tone = { same: 'ok', different: 'err', skipped: 'off' } as const;
  return <StateWord tone={tone[result]} word={result} />;
}
