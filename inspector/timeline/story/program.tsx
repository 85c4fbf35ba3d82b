import './program.css';
import { batch } from '@preact/signals';
import type { VNode } from 'preact';
import type { ProgramCallView, ProgramView, Story } from '../../../src/inspector/contract/story.js';
import { isObject } from '../../../src/jsonrpc/message.js';
import { clean } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { enterAtLine } from '../../parts/list/entering.js';
import { StateMark } from '../../parts/state-mark.js';
import { counted, duration } from '../../parts/values/format.js';
import { toast } from '../../state/toast.js';
import { editStory } from './story-actions.js';

const MAX_LINES = 2000;
const MAX_LINE = 2000;

const STATES = { done: 'ok', failed: 'error' } as const satisfies Partial<
  Record<ProgramCallView['state'], Story['state']>
>;

/** The program of a call of `run_code`, line by line, and the calls that it has made as a story. */
export function Program({ story }: { readonly story: Story }): VNode | null {
  const source = story.args?.['code'];
  const { program } = story;
  if (typeof source !== 'string' || program === undefined) return null;
  const lines = source.split('\n');
  const failed = failedLine(story);
  return (
    <section class="program" aria-label="Program">
      <h2>Program</h2>
      <p class="muted">
        Choose the number of a line to change the program there. It always runs from its first line, so that
        its calls are made again.
      </p>
      <div class="program-code" role="group" tabIndex={0} aria-label="Lines of the program">
        {lines.slice(0, MAX_LINES).map((text, at) => (
          <Line
            key={at}
            story={story}
            line={at + 1}
            text={text}
            calls={program.calls.filter(({ line }) => line === at + 1)}
            isFailed={at + 1 === failed}
          />
        ))}
      </div>
      {lines.length > MAX_LINES && <p class="muted">{counted(lines.length - MAX_LINES, 'more line')}</p>}
      <h2>Calls of the program</h2>
      <p class="muted">{summary(story, program)}</p>
      {program.calls.length > 0 && <Calls story={story} calls={program.calls} />}
    </section>
  );
}

function Line({
  story,
  line,
  text,
  calls,
  isFailed,
}: {
  readonly story: Story;
  readonly line: number;
  readonly text: string;
  readonly calls: readonly ProgramCallView[];
  readonly isFailed: boolean;
}): VNode {
  const failures = calls.filter(({ state }) => state === 'failed').length;
  return (
    <div class={isFailed ? 'program-line is-failed' : 'program-line'}>
      <button
        type="button"
        class="program-number"
        title={`Change the program from line ${line}`}
        onClick={() => editFrom(story, line)}
      >
        {line}
      </button>
      <code>{clean(text.slice(0, MAX_LINE))}</code>
      <span class="program-marks">
        {isFailed && <Badge tone="err">failed here</Badge>}
        {calls.length > 0 && <Badge>{counted(calls.length, 'call')}</Badge>}
        {failures > 0 && <Badge tone="err">{failures} failed</Badge>}
      </span>
    </div>
  );
}

function Calls({
  story,
  calls,
}: {
  readonly story: Story;
  readonly calls: readonly ProgramCallView[];
}): VNode {
  return (
    <div class="program-calls" role="group" tabIndex={0} aria-label="Calls of the program">
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">line</th>
            <th scope="col">call</th>
            <th scope="col">result</th>
            <th scope="col">time</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.seq}>
              <td>{call.seq}</td>
              <td>{call.line ?? ''}</td>
              <td class="program-value">
                <strong>{call.tool}</strong>({call.args}){' '}
                {call.isApproved === true && <Badge tone="ask">approved</Badge>}
              </td>
              <td class="program-value">
                <Outcome story={story} call={call} />
              </td>
              <td>{call.ms === undefined ? '' : duration(call.ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Outcome({ story, call }: { readonly story: Story; readonly call: ProgramCallView }): VNode {
  const { state, result, error } = call;
  if (state === 'waiting')
    return (
      <span class="muted">{story.endedAt === undefined ? 'waits' : 'did not end, or did not begin'}</span>
    );
  return (
    <>
      <StateMark state={STATES[state]} hasWord={false} /> {error ?? result}
    </>
  );
}

function summary({ earlier, endedAt }: Story, { isTold, calls }: ProgramView): string {
  if (earlier !== undefined) return 'The calls of programs are not kept for later visits.';
  if (!isTold && endedAt === undefined) return 'No call has ended yet.';
  if (!isTold) return 'The server has not told of any call.';
  const [first] = calls;
  if (first === undefined) return 'The program made no call.';
  const failures = calls.filter(({ state }) => state === 'failed').length;
  const hidden = first.seq - 1;
  return [
    counted(calls.length, 'call'),
    ...(failures > 0 ? [`${failures} failed`] : []),
    ...(hidden > 0 ? [`${counted(hidden, 'earlier one')} not shown`] : []),
  ].join(', ');
}

/** The line that an error of the program names. */
function failedLine({ outcome }: Story): number | undefined {
  const content = outcome?.['isError'] === true ? outcome['content'] : undefined;
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  const text = isObject(first) ? first['text'] : undefined;
  const [, line] = /^Line (\d{1,6}): /.exec(typeof text === 'string' ? text : '') ?? [];
  return line === undefined ? undefined : Number(line);
}

/** Puts the program into the form, with the cursor at a line. */
function editFrom(story: Story, line: number): void {
  batch(() => {
    editStory(story);
    enterAtLine(story.title, line);
  });
  toast(`The program is in the form, at line ${line}.`);
}
