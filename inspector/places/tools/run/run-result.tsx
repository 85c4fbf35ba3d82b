import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { every } from '../../../../src/async/every.js';
import type { ToolView } from '../../../../src/inspector/contract/connection.js';
import type { OutputVerdict, Story } from '../../../../src/inspector/contract/story.js';
import { clean } from '../../../../src/tooling/clean.js';
import { announce } from '../../../frame/announcer.js';
import { Button } from '../../../parts/controls/button.js';
import { useKeys } from '../../../parts/controls/keys.js';
import { EarlierNote } from '../../../parts/earlier-note.js';
import { ErrorPanel } from '../../../parts/error-panel.js';
import { Icon } from '../../../parts/icon.js';
import { lazy } from '../../../parts/lazy.js';
import { StateMark } from '../../../parts/state-mark.js';
import { bytes, duration } from '../../../parts/values/format.js';
import { LargeOutcome } from '../../../results/large-outcome.js';
import { ResultView } from '../../../results/result-view.js';
import { addressOf } from '../../../state/route.js';
import { requestsFile } from '../../../state/store.js';
import { CompareMenu } from '../../compare/compare-menu.js';
import { nameCaller } from '../../connect/name-caller.js';
import { commandFailure, isRunning, runAgain, stopRun } from './run-tool.js';

const QuestionPanel = lazy(() =>
  import('../../../questions/question-panel.js').then((module) => module.QuestionPanel),
);

const Program = lazy(() => import('../../../timeline/story/program.js').then((module) => module.Program));

const SaveRequest = lazy(() => import('../../requests/save-request.js').then((module) => module.SaveRequest));

/** A clock that would be over before it can be read is not shown. */
const CLOCK_AFTER_MS = 300;

/** The course of a run: its progress, its questions, its result or what went wrong. Nothing before the first one. */
export function RunResult({
  view,
  shown,
  previous,
  onEdit,
}: {
  readonly view: ToolView;
  readonly shown: Story | undefined;
  readonly previous: Story | undefined;
  readonly onEdit: () => void;
}): VNode | null {
  useAnnouncement(shown);
  const failed = commandFailure.value?.tool === view.tool.name ? commandFailure.value.failure : undefined;
  if (failed)
    return (
      <div class="tools-result">
        <ErrorPanel title="Nothing was sent." failure={failed} />
      </div>
    );
  if (shown === undefined) return null;
  const { outcome, error, outcomeBytes, questions } = shown;
  const state = <RunState story={shown} schema={view.tool['outputSchema']} onEdit={onEdit} />;
  const hasQuestions = questions.length > 0;
  // The questions say themselves that the call waits, and for how long.
  const isAsking = shown.state === 'asks';
  return (
    <div class={`tools-result is-${shown.state}`}>
      {outcome === undefined && !isAsking && <div class="results-bar">{state}</div>}
      {isRunning(shown) && <Progress story={shown} />}
      {hasQuestions && <QuestionPanel key={shown.id} story={shown} />}
      {error && <ErrorPanel failure={error}>{nameCaller(shown.connection, error)}</ErrorPanel>}
      {outcome !== undefined && (
        <ResultView
          key={shown.id}
          outcome={outcome}
          tool={view}
          story={shown.id}
          note={
            <>
              {checkNote(shown.outputCheck)}
              <EarlierNote story={shown} />
            </>
          }
          previous={previous?.outcome && { outcome: previous.outcome, name: `run #${previous.run}` }}
        >
          {state}
        </ResultView>
      )}
      {shown.program && <Program key={shown.id} story={shown} />}
      {outcome === undefined && <EarlierNote story={shown} />}
      {outcome === undefined && !isRunning(shown) && !shown.earlier && outcomeBytes !== undefined && (
        <LargeOutcome key={shown.id} story={shown.id} size={outcomeBytes} tool={view} />
      )}
    </div>
  );
}

function RunState({
  story,
  schema,
  onEdit,
}: {
  readonly story: Story;
  /** The output schema of the tool. */
  readonly schema: unknown;
  readonly onEdit: () => void;
}): VNode {
  const isKeeping = useSignal(false);
  const { id, state, serverMs, youMs, outcomeBytes, outputCheck, rounds } = story;
  const mayKeep = requestsFile.value !== undefined && !isRunning(story);
  const keep = (): void => {
    isKeeping.value = true;
  };
  const box = useRef<HTMLDivElement>(null);
  // On a phone, the result may be behind the form, and a window in it would not be seen.
  useKeys({ s: () => (mayKeep && box.current?.checkVisibility() === true ? keep() : false) });
  return (
    <>
      <div class="tools-state" ref={box}>
        <StateMark state={state} />
        {isRunning(story) ? (
          <Clock since={story.at} youMs={youMs} isWaiting={state === 'asks'} />
        ) : (
          duration(serverMs)
        )}
        {youMs > 0 && <span class="muted">you {duration(youMs)}</span>}
        {rounds.length > 1 && <span class="muted">{rounds.length} rounds</span>}
        {outcomeBytes !== undefined && <span class="muted">{bytes(outcomeBytes)}</span>}
        {outputCheck && <CheckMark check={outputCheck} />}
      </div>
      <span class="tools-state-actions">
        {isRunning(story) ? (
          <Button look="quiet" icon="stop" label="Stop" keys="Ctrl+." onClick={() => stopRun(story)} />
        ) : (
          <Button look="quiet" icon="again" label="Run again" keys="r" onClick={() => runAgain(story)} />
        )}
        <Button
          look="quiet"
          icon="edit"
          label="Put these arguments into the form"
          keys="e"
          onClick={onEdit}
        />
        {mayKeep && (
          <Button
            look="quiet"
            icon="save"
            label="Keep this request, with what you expect"
            keys="s"
            onClick={keep}
          />
        )}
        {isKeeping.value && (
          <SaveRequest
            story={story}
            schema={schema}
            onClose={() => {
              isKeeping.value = false;
            }}
          />
        )}
        {!isRunning(story) && <CompareMenu story={story} />}
        <a class="button quiet icon" href={addressOf('call', String(id))} title="The story of this call (g)">
          <Icon name="timeline" label="The story of this call" />
        </a>
      </span>
    </>
  );
}

function CheckMark({ check }: { readonly check: OutputVerdict }): VNode {
  if (check.result === 'fits')
    return (
      <span class="badge ok" title="The structured content fits the output schema of the tool">
        fits its schema
      </span>
    );
  if (check.result === 'unchecked')
    return (
      <span class="badge" title={clean(check.reason)}>
        not checked
      </span>
    );
  return (
    <span class="badge err" title={clean(check.message)}>
      breaks its schema
    </span>
  );
}

/** Why a result breaks its schema, with the place. That it could not be checked is another sentence. */
function checkNote(check: OutputVerdict | undefined): VNode | undefined {
  if (check === undefined || check.result === 'fits') return undefined;
  if (check.result === 'unchecked')
    return (
      <p class="results-note muted">The output could not be checked: {clean(check.reason.slice(0, 400))}</p>
    );
  return (
    <p class="results-note is-wrong">
      The output schema is broken at <span class="mono">{clean(check.path.slice(0, 200) || 'the top')}</span>:{' '}
      {clean(check.message.slice(0, 400))}
    </p>
  );
}

function Progress({ story }: { readonly story: Story }): VNode | null {
  const { progress } = story;
  if (progress === undefined) return null;
  const { progress: done, total, message } = progress;
  return (
    <div class="tools-progress">
      {total !== undefined && total > 0 && (
        <progress value={done} max={total} aria-label="Progress">
          {done} of {total}
        </progress>
      )}
      <span class="mono">{total === undefined ? done : `${done} of ${total}`}</span>
      {message !== undefined && <span>{clean(message.slice(0, 500))}</span>}
    </div>
  );
}

/** The time that the call takes. While the server waits for the user, it stands. */
function Clock({
  since,
  youMs,
  isWaiting,
}: {
  readonly since: number;
  readonly youMs: number;
  readonly isWaiting: boolean;
}): VNode | null {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (isWaiting) return undefined;
    return every(100, () => {
      now.value = Date.now();
    });
  }, [isWaiting]);
  const ms = Math.max(0, now.value - since - youMs);
  return ms < CLOCK_AFTER_MS ? null : <span class="mono">{duration(ms)}</span>;
}

function useAnnouncement(shown: Story | undefined): void {
  const before = useRef<{ id: number; wasRunning: boolean } | undefined>(undefined);
  useEffect(() => {
    const last = before.current;
    before.current = shown && { id: shown.id, wasRunning: isRunning(shown) };
    if (shown === undefined || isRunning(shown)) return;
    // A run that is only looked at is not news.
    if (last === undefined || (last.id === shown.id && !last.wasRunning)) return;
    const words = {
      ok: 'succeeded',
      'tool-error': 'failed',
      error: 'failed',
      cancelled: 'was cancelled',
    } as const;
    const word = words[shown.state as keyof typeof words] ?? 'ended';
    announce(`${shown.title} ${word} after ${duration(shown.serverMs)}.`);
  }, [shown?.id, shown?.state]);
}
