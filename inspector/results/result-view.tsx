import './results.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId, useMemo, useRef } from 'preact/hooks';
import type { ToolView } from '../../src/inspector/contract/connection.js';
import type { JsonObject } from '../../src/jsonrpc/message.js';
import { useKeys } from '../parts/controls/keys.js';
import { lazy } from '../parts/lazy.js';
import { CodeBlock } from '../parts/values/code-block.js';
import { Content } from './content.js';
import { readOutcome } from './read-outcome.js';
import { StructuredView, TableSwitch } from './structured-view.js';
import { TextDifference } from './text-difference.js';
import { tableOf } from './value-table.js';

const AppView = lazy(() => import('./app/app-view.js').then((module) => module.AppView));

export interface ResultViewProps {
  /** The result of a tool, of reading a resource or of getting a prompt, as the server sent it. */
  readonly outcome: JsonObject;
  /** The outcome of the run before, and how to call it, as in `run #16`. */
  readonly previous?: { readonly outcome: JsonObject; readonly name: string } | undefined;
  readonly tool?: ToolView | undefined;
  /** The story that it ended: for apps. */
  readonly story?: number | undefined;
  /** Stands in the same row as the tabs: the state, the time, the size. */
  readonly children?: VNode | undefined;
  /** A sentence about the result, below that row. */
  readonly note?: VNode | undefined;
}

/** A result by its kind of content. The same thing is never shown twice: what is not in `Value` is in `Text`. */
export function ResultView({ outcome, previous, tool, story, children, note }: ResultViewProps): VNode {
  const read = useMemo(() => readOutcome(outcome), [outcome]);
  const last = useMemo(() => previous && readOutcome(previous.outcome), [previous?.outcome]);
  const before =
    previous === undefined || last?.structured === undefined
      ? undefined
      : { name: previous.name, value: last.structured };
  const table = useMemo(() => tableOf(read.structured), [read.structured]);
  const isTable = useSignal(true);
  const chosen = useSignal('');
  const id = useId();
  const hasApp = tool?.app !== undefined && story !== undefined;
  const tabs = [
    ...(hasApp ? ['App'] : []),
    ...(read.hasValue ? ['Value'] : []),
    ...(read.hasText ? ['Text'] : []),
    'Raw',
  ];
  const [first = 'Raw'] = tabs;
  const tab = tabs.includes(chosen.value) ? chosen.value : first;
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    chosen.value = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length] ?? first;
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[tabs.indexOf(chosen.value)]?.focus();
  };
  const box = useRef<HTMLElement>(null);
  useKeys({
    // On the page of a call, the key is for its messages.
    w: () => {
      if (box.current?.closest('.story') || box.current?.checkVisibility() !== true) return false;
      chosen.value = tab === 'Raw' ? first : 'Raw';
      return undefined;
    },
  });
  return (
    <section ref={box} class="results" aria-labelledby={`${id}-title`}>
      <h2 class="visually-hidden" id={`${id}-title`}>
        Result
      </h2>
      <div class="results-bar">
        {children}
        {tab === 'Value' && table !== undefined && <TableSwitch isTable={isTable} />}
        <div class="results-tabs" role="tablist" aria-label="Result as" onKeyDown={move}>
          {tabs.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`${id}-${each}`}
              aria-selected={each === tab}
              aria-controls={`${id}-panel`}
              tabIndex={each === tab ? 0 : -1}
              onClick={() => {
                chosen.value = each;
              }}
            >
              {each}
            </button>
          ))}
        </div>
      </div>
      {note}
      <div
        class="results-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${tab}`}
        tabIndex={0}
      >
        {tab === 'App' && hasApp && <AppView story={story} tool={tool} />}
        {tab === 'Value' && (
          <>
            {read.structured !== undefined && (
              <StructuredView
                value={read.structured}
                table={isTable.value ? table : undefined}
                previous={before}
              />
            )}
            <Content blocks={read.value} />
            {previous && last && <TextDifference now={read} before={last} name={previous.name} />}
          </>
        )}
        {tab === 'Text' && <Content blocks={read.text} />}
        {tab === 'Raw' && (
          <CodeBlock text={JSON.stringify(outcome, undefined, 2)} language="json" label="Raw result" />
        )}
      </div>
    </section>
  );
}
