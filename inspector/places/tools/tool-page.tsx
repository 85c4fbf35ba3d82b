import { type Signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ConnectionView, ToolView } from '../../../src/inspector/contract/connection.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { check } from '../../form/check.js';
import { copyText } from '../../parts/controls/copy-button.js';
import { useKeys } from '../../parts/controls/keys.js';
import { Splitter } from '../../parts/controls/split.js';
import { useEntering } from '../../parts/list/entering.js';
import { StateMark } from '../../parts/state-mark.js';
import { isNarrow } from '../../state/media.js';
import { addressOf, go, route } from '../../state/route.js';
import { formHeight } from '../../state/settings.js';
import { shownRun } from '../../state/shown-run.js';
import { commandLine } from './copy/command-line.js';
import { argumentsOf, draftOf, keptArguments, prefill, schemaOf, setDraft } from './draft.js';
import { RunBar } from './run/run-bar.js';
import { RunResult } from './run/run-result.js';
import { commandFailure, isRunning, runAgain, runsOf, runTool, shownOf, stopRun } from './run/run-tool.js';
import { serverWords } from './server-words.js';
import { ToolForm } from './tool-form.js';
import { ToolHead } from './tool-head.js';

/** One tool: its form above, its result below. */
export function ToolPage({
  connection,
  view,
}: {
  readonly connection: ConnectionView;
  readonly view: ToolView;
}): VNode {
  const { tool } = view;
  const schema = schemaOf(tool);
  const draft = draftOf(connection.id, view);
  const page = useRef<HTMLDivElement>(null);
  const runs = runsOf(tool.name);
  const shown = shownOf(runs);
  const { query } = route.value;
  const asked = query.toString();
  // A call that waits for an answer opens at its question.
  const tab = useSignal(shown?.state === 'asks' ? 'result' : 'form');
  const asTask = useSignal(false);
  const hasResult = shown !== undefined || commandFailure.value?.tool === tool.name;

  useEffect(() => {
    if (asked !== '') prefill(connection.id, view, query);
  }, [asked]);
  useEntering(tool.name, page);
  useEffect(() => {
    // A run that was just made, or picked elsewhere, is what one wants to see.
    if (shownRun.value !== undefined && shownRun.value === shown?.id) tab.value = 'result';
  }, [shown?.id]);

  const value = draft.text === undefined ? draft.value : argumentsOf(draft);
  const problems = useMemo(() => check(schema, value), [schema, value]);
  const spoken = useMemo(() => serverWords(shown, schema), [shown, schema]);
  const errors = useMemo(() => {
    const words = new Map<string, string>();
    for (const [path, { message, isMissing }] of problems)
      if (!isMissing || draft.isAttempted) words.set(path, message);
    // The server has the last word about what was sent.
    for (const [path, message] of spoken) if (isUnchanged(value, shown?.args, path)) words.set(path, message);
    return words;
  }, [problems, spoken, draft.isAttempted, value, shown?.args]);

  const send = (isSure: boolean) => {
    const args = argumentsOf(draft);
    if (args === undefined || (problems.size > 0 && !isSure)) {
      setDraft(connection.id, view, { isAttempted: true });
      requestAnimationFrame(() => page.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
      return;
    }
    const isTask = view.task === 'optional' && asTask.value;
    runTool({ connection: connection.id, tool: tool.name, args, ...(isTask && { asTask: true }) });
  };
  const edit = (story: Story | undefined) => {
    if (story?.args === undefined) return;
    const args = keptArguments(story);
    const text = draft.text === undefined ? undefined : JSON.stringify(args, undefined, 2);
    setDraft(connection.id, view, { value: args, text, isAttempted: false });
    tab.value = 'form';
  };
  const pick = (story: Story | undefined) => {
    if (story === undefined) return;
    shownRun.value = story.id;
    edit(story);
  };
  const step = (by: number) => {
    const at = shown === undefined ? runs.length : runs.indexOf(shown);
    pick(runs[at + by]);
  };
  useKeys({
    'Ctrl+Enter': () => send(false),
    'Ctrl+.': () => (shown && isRunning(shown) ? stopRun(shown) : false),
    r: () => (shown ? runAgain(shown) : send(false)),
    e: () => edit(shown),
    '[': () => step(-1),
    ']': () => step(1),
    g: () => (shown ? go('call', String(shown.id)) : false),
    c: () =>
      void copyText(
        commandLine(connection, tool.name, { args: argumentsOf(draft) ?? {}, schema }),
        'Copied as command line',
      ),
  });
  return (
    <div
      class={hasResult ? 'tools-page has-result' : 'tools-page'}
      data-tab={hasResult ? tab.value : 'form'}
      style={{ '--form-height': `${formHeight.value}px` }}
      ref={page}
    >
      {isNarrow.value && shown && <PhoneTabs tab={tab} story={shown} />}
      <div class="tools-upper">
        <ToolHead view={view} />
        <ToolForm connection={connection} view={view} schema={schema} draft={draft} errors={errors} />
      </div>
      <RunBar
        connection={connection}
        view={view}
        draft={draft}
        problems={draft.isAttempted ? problems.size : 0}
        runs={runs}
        shown={shown}
        asTask={view.task === 'optional' ? asTask : undefined}
        onRun={send}
        onPick={pick}
      />
      {hasResult && <Splitter size={formHeight} min={160} max={900} label="Height of the form" axis="y" />}
      <RunResult view={view} shown={shown} previous={previousOf(runs, shown)} onEdit={() => edit(shown)} />
    </div>
  );
}

/** On a phone the form and the result take turns. */
function PhoneTabs({ tab, story }: { readonly tab: Signal<string>; readonly story: Story }): VNode {
  const set = (next: string) => () => {
    tab.value = next;
  };
  return (
    <div class="tools-tabs" role="group" aria-label="Parts of this call">
      <button type="button" aria-pressed={tab.value === 'form'} onClick={set('form')}>
        Form
      </button>
      <button type="button" aria-pressed={tab.value === 'result'} onClick={set('result')}>
        Result <StateMark state={story.state} hasWord={false} />
      </button>
      <a href={addressOf('call', String(story.id))}>Story</a>
    </div>
  );
}

/** The run before that had a result of the same kind. */
function previousOf(runs: readonly Story[], shown: Story | undefined): Story | undefined {
  if (shown?.state !== 'ok') return undefined;
  return runs.findLast(
    ({ id, state, outcome, earlier }) =>
      id < shown.id && state === 'ok' && outcome !== undefined && earlier === undefined,
  );
}

/** Whether an argument is still as it was sent. */
function isUnchanged(value: unknown, sent: JsonObject | undefined, path: string): boolean {
  const [, name = ''] = path.split('/', 2);
  if (sent === undefined || typeof value !== 'object' || value === null) return false;
  return JSON.stringify((value as JsonObject)[name]) === JSON.stringify(sent[name]);
}
