import './logs.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import type { LogLine } from '../../../../src/inspector/contract/message.js';
import { CopyButton } from '../../../parts/controls/copy-button.js';
import { Empty } from '../../../parts/empty.js';
import { lineOf, ThrownError } from '../../../parts/thrown-error.js';
import { CodeBlock } from '../../../parts/values/code-block.js';
import { clock, counted } from '../../../parts/values/format.js';
import { route } from '../../../state/route.js';
import { LogLevel } from '../settings/log-level.js';
import { LogList } from './log-list.js';
import { lineText, matchingLines } from './log-rows.js';

const SOURCES = [
  ['stderr', 'stderr'],
  ['log', 'log messages'],
  ['problem', 'problems'],
] as const;

/** The lines of the server: stderr, log messages, and everything that went wrong without failing a call. */
export function LogView({
  connection,
  lines,
}: {
  readonly connection: ConnectionView;
  readonly lines: readonly LogLine[];
}): VNode {
  const text = useSignal('');
  const source = useSignal<LogLine['source'] | undefined>(undefined);
  const chosen = useSignal<number | undefined>(undefined);
  const ref = route.value.query.get('ref');
  useEffect(() => {
    // The link in an error leads to its line.
    if (ref !== null) chosen.value = lineOf(lines, ref)?.seq;
  }, [ref]);
  const shown = matchingLines(lines, { text: text.value, source: source.value });
  const open = shown.find(({ seq }) => seq === chosen.value);
  return (
    <div class="logs">
      <div class="logs-bar">
        <input
          class="field logs-filter"
          type="search"
          aria-label="Filter the log"
          placeholder="Filter"
          spellcheck={false}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
        <select
          class="field server-select"
          aria-label="Source"
          value={source.value ?? ''}
          onChange={({ currentTarget }) => {
            source.value = SOURCES.find(([name]) => name === currentTarget.value)?.[0];
          }}
        >
          <option value="">everything</option>
          {SOURCES.map(([name, word]) => (
            <option key={name} value={name}>
              {word}
            </option>
          ))}
        </select>
        <span class="logs-level">
          <span class="muted">Level</span>
          <LogLevel connection={connection} />
        </span>
        <span class="label muted logs-count" role="status">
          {shown.length === lines.length
            ? counted(lines.length, 'line')
            : `${shown.length} of ${lines.length}`}
        </span>
        <CopyButton text={() => shown.map(lineText).join('\n')} label="Copy these lines" />
      </div>
      {lines.length === 0 ? (
        <Empty title="The server has written nothing yet.">
          Lines of stderr, log messages and problems appear here.
        </Empty>
      ) : shown.length === 0 ? (
        <Empty title="No line matches." />
      ) : (
        <LogList
          lines={shown}
          chosen={chosen.value}
          onChoose={(seq) => {
            chosen.value = seq === chosen.value ? undefined : seq;
          }}
        />
      )}
      {open !== undefined && (
        <div class="logs-line">
          <p class="label muted">
            {clock(open.at, true)} {[open.source, open.level, open.logger].filter(Boolean).join(', ')}
          </p>
          {open.error ? <ThrownError error={open.error} /> : <CodeBlock text={open.text} label="Line" />}
        </div>
      )}
    </div>
  );
}
