import './journal.css';
import type { VNode } from 'preact';
import type { JournalCell, JournalRow, JournalView, Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { Icon } from '../../parts/icon.js';
import { bytes, counted, duration } from '../../parts/values/format.js';
import { againFrom } from '../../questions/answers/answer-again.js';
import { valueWords } from '../model/journal-words.js';
import { endsRound } from '../model/lanes.js';

/** The limit of what the library seals into the state of a call. */
const STATE_LIMIT = '64 kB';

/** The runs of a handler as columns, the keys that it met as rows: only what really ran is filled. */
export function JournalGrid({
  story,
  journal,
}: {
  readonly story: Story;
  readonly journal: JournalView;
}): VNode {
  const { runs, rows, hasSteps, stateBytes } = journal;
  const warnings = rows.filter(({ warning }) => warning !== undefined);
  const isSession = story.questions.length > 0 && story.questions.every((each) => !endsRound(story, each));
  return (
    <section class="journal" aria-label="Journal">
      <h2>Journal</h2>
      <p class="muted">{summary(story, journal)}</p>
      <div class="journal-scroll" tabIndex={0} role="group" aria-label="Runs and keys">
        <table class="journal-table">
          <thead>
            <tr>
              <th scope="col" colSpan={2}>
                <span class="visually-hidden">Key</span>
              </th>
              {runs.map((_, run) => (
                <th key={run} scope="col">
                  run {run + 1}
                </th>
              ))}
              <th scope="col" class="journal-value">
                value
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <Row key={index} row={row} runs={runs.length} />
            ))}
            {!hasSteps && (
              <tr>
                <th scope="row" class="journal-kind">
                  step
                </th>
                <td class="journal-sealed" colSpan={runs.length + 2}>
                  <Icon name="lock" size={12} /> sealed: steps are visible for a server started by this
                  inspector
                </td>
              </tr>
            )}
          </tbody>
          <tfoot>
            <tr>
              <td colSpan={2} />
              {runs.map((_, run) => (
                <td key={run}>{runTime(story, journal, run)}</td>
              ))}
              <td class="journal-value">
                {stateBytes !== undefined &&
                  `sealed state ${bytes(stateBytes)}${hasSteps ? `, ${STATE_LIMIT} by default at most` : ''}`}
              </td>
            </tr>
            {canGoBack(story, runs.length) && (
              <tr>
                <td colSpan={2} />
                {runs.map((_, run) => (
                  <td key={run}>
                    {run > 0 && (
                      <Button
                        look="quiet"
                        class="journal-again"
                        label={`Runs again with the answers of before run ${run + 1}, and asks from there anew`}
                        onClick={() => void againFrom(story, run + 1)}
                      >
                        Run again from here
                      </Button>
                    )}
                  </td>
                ))}
                <td />
              </tr>
            )}
          </tfoot>
        </table>
      </div>
      {isSession && runs.length === 1 && (
        <p class="muted">
          One column: in this session the handler runs once and waits for each answer, so nothing is replayed.
        </p>
      )}
      {warnings.length > 0 && (
        <ul class="journal-warnings">
          {warnings.map(({ key, warning, idempotencyKey }) => (
            <li key={key}>
              <Icon name="warning" label="Warning" />
              <span>
                <strong class="mono">{cleanLine(key, 80)}</strong> {cleanLine(warning ?? '', 400)}
                {idempotencyKey !== undefined && (
                  <span class="muted">
                    {' '}
                    Its idempotencyKey is the same each time: {cleanLine(idempotencyKey, 120)}
                  </span>
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ row, runs }: { readonly row: JournalRow; readonly runs: number }): VNode {
  const cells: readonly JournalCell[] = Array.from({ length: runs }, (_, run) => row.cells[run] ?? 'none');
  return (
    <tr class={row.warning === undefined ? '' : 'has-warning'}>
      <th scope="row" class="journal-kind">
        {row.kind}
      </th>
      <td class="journal-key" title={cleanLine(row.key)}>
        {row.warning !== undefined && <Icon name="warning" size={12} label="Warning" />}
        {row.kind === 'return' ? '' : cleanLine(row.key, 80)}
      </td>
      {cells.map((cell, run) => (
        <td key={run} class={`journal-cell ${cell}`}>
          <Cell cell={cell} />
        </td>
      ))}
      <td class="journal-value" title={cleanLine(row.value ?? '', 2000)}>
        {cleanLine(valueWords(row), 200)}
      </td>
    </tr>
  );
}

function Cell({ cell }: { readonly cell: JournalCell }): VNode {
  switch (cell) {
    case 'ran':
      return (
        <span>
          <i class="journal-dot" />
          RAN
        </span>
      );
    case 'asked':
      return (
        <span>
          <Icon name="question" size={12} />
          asked
        </span>
      );
    case 'known':
      return (
        <span>
          <i class="journal-point" />
          known
        </span>
      );
    case 'threw':
      return (
        <span>
          <Icon name="cross" size={12} />
          threw
        </span>
      );
    case 'returned':
      return (
        <span>
          <Icon name="check" size={12} />
          returned
        </span>
      );
    default:
      return (
        <span>
          <span aria-hidden="true">–</span>
          <span class="visually-hidden">not reached</span>
        </span>
      );
  }
}

/** The time of a run: the handler's own, or else that of the round it ran in. */
function runTime({ rounds, endedAt }: Story, { runs }: JournalView, run: number): string {
  const ms = runs[run]?.ms ?? (runs.length === rounds.length ? rounds[run]?.ms : undefined);
  if (ms !== undefined) return duration(ms);
  return endedAt === undefined && run === runs.length - 1 ? 'running' : '';
}

/** As in `3 runs, 2 questions, 1 step`. */
function summary({ questions, serverMs, youMs }: Story, { runs, rows, hasSteps }: JournalView): string {
  const steps = rows.filter(({ kind }) => kind === 'step').length;
  const parts = [counted(runs.length, 'run'), counted(questions.length, 'question')];
  if (hasSteps) parts.push(counted(steps, 'step'));
  return `${parts.join(', ')}. Server ${duration(serverMs)}, you ${duration(youMs)}.`;
}

/** Only a call that was made by a tool's name can be made again, and only a run after the first has answers before it. */
function canGoBack({ kind, questions }: Story, runs: number): boolean {
  return kind === 'tool' && runs > 1 && questions.some(({ answer }) => answer !== undefined);
}
