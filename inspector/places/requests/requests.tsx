import './requests.css';
import { type Signal, signal, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type {
  RequestReportView,
  RequestsView,
  RequestView,
} from '../../../src/inspector/contract/requests.js';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/controls/button.js';
import { Empty } from '../../parts/empty.js';
import { ErrorPanel } from '../../parts/error-panel.js';
import { Icon } from '../../parts/icon.js';
import { isFocusNowhere } from '../../parts/popup/layers.js';
import { CodeBlock } from '../../parts/values/code-block.js';
import { counted, duration } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { type RunningCommand, useCommand } from '../../state/command.js';
import { addressOf } from '../../state/route.js';
import { catalog, connection, stories } from '../../state/store.js';

/** The reports of the latest runs, by `request name` or `tool name`. They stay while the page shows something else. */
const reports: Signal<ReadonlyMap<string, RequestReportView>> = signal(new Map());

/** The requests that the project keeps: run one or all, with the result beside what was expected. */
export function Requests(): VNode {
  const view = useSignal<RequestsView | undefined>(undefined);
  const command = useCommand();
  const risky = useSignal<readonly string[]>([]);
  const load = (): Promise<boolean> =>
    command.start(async () => {
      view.value = await run('requests', {});
    });
  const head = useRef<HTMLElement>(null);
  useEffect(() => void load(), []);
  useEffect(() => {
    // Running all of them is the next thing to do, also when the row that had the focus was removed.
    if (isFocusNowhere()) head.current?.querySelector<HTMLElement>('.button.main:enabled')?.focus();
  }, [view.value]);
  const send = (names: readonly string[]): void => {
    const id = connection.value?.id;
    // A button that is disabled while it works would lose the focus.
    if (id === undefined || command.isRunning.value) return;
    risky.value = [];
    void command.start(async () => {
      const answer = await run('runRequests', { connection: id, names });
      const next = new Map(reports.value);
      for (const report of answer.reports) next.set(`${report.what} ${report.name}`, report);
      reports.value = next;
    });
  };
  const requests = view.value?.requests ?? [];
  const sendAll = (): void => {
    risky.value = riskyTools(requests);
    if (risky.value.length === 0) send(requests.map(({ name }) => name));
  };
  return (
    <section class="place" aria-label="Requests">
      <header class="place-head" ref={head}>
        <h1>Requests</h1>
        <span class="muted mono">{view.value?.file}</span>
        <div class="place-actions">
          <Button icon="again" label="Read the file again" onClick={() => void load()} />
          <Button look="main" icon="play" isDisabled={requests.length === 0} onClick={sendAll}>
            Run all
          </Button>
        </div>
      </header>
      <Notes view={view.value} />
      {risky.value.length > 0 && (
        <RiskyQuestion
          tools={risky.value}
          onAll={() => send(requests.map(({ name }) => name))}
          onReading={() => send(requests.filter((one) => !isRisky(one)).map(({ name }) => name))}
        />
      )}
      {command.failure.value && <ErrorPanel failure={command.failure.value} />}
      {view.value?.problem !== undefined && (
        <ErrorPanel
          title="The file cannot be used."
          failure={{ code: 'requests', message: view.value.problem }}
        />
      )}
      {view.value && view.value.problem === undefined && requests.length === 0 && (
        <Empty title="No request is kept yet.">
          Run a tool, and keep the run with what you expect of it.
        </Empty>
      )}
      <Summary />
      <ul class="requests-list">
        {requests.map((request) => (
          <Row
            key={request.name}
            request={request}
            command={command}
            onRun={() => send([request.name])}
            view={view}
          />
        ))}
      </ul>
      <Definitions />
    </section>
  );
}

function Notes({ view }: { readonly view: RequestsView | undefined }): VNode | null {
  if (view === undefined || view.env.length === 0) return null;
  return (
    <p class="muted">
      The server is sent the values of {view.env.slice(0, 20).join(', ')}. They are not shown here.
    </p>
  );
}

function RiskyQuestion({
  tools,
  onAll,
  onReading,
}: {
  readonly tools: readonly string[];
  readonly onAll: () => void;
  readonly onReading: () => void;
}): VNode {
  return (
    <div class="requests-risky" role="alert">
      <span>
        {tools
          .slice(0, 5)
          .map((name) => cleanLine(name, 60))
          .join(', ')}
        {tools.length > 5 && ` and ${tools.length - 5} more`} may change something on this server.
      </span>
      <Button onClick={onAll}>Run all anyway</Button>
      <Button onClick={onReading}>Run only what reads</Button>
    </div>
  );
}

function Summary(): VNode | null {
  const all = [...reports.value.values()];
  if (all.length === 0) return null;
  const failed = all.filter(({ problems, skipped }) => problems.length > 0 || skipped !== undefined).length;
  return (
    <p role="status">
      {all.length - failed} passed, {failed} failed.
    </p>
  );
}

function Row({
  request,
  command,
  onRun,
  view,
}: {
  readonly request: RequestView;
  readonly command: RunningCommand;
  readonly onRun: () => void;
  readonly view: Signal<RequestsView | undefined>;
}): VNode {
  const { name, kind, subject, args } = request;
  const report = reports.value.get(`request ${name}`);
  const remove = (): void => {
    void command.start(async () => {
      view.value = await run('removeRequest', { name });
      reports.value = new Map([...reports.value].filter(([key]) => key !== `request ${name}`));
    });
  };
  return (
    <li class="requests-row">
      <div class="requests-line">
        <Mark report={report} />
        <strong>{cleanLine(name, 200)}</strong>
        <span class="mono muted">
          {kind} {cleanLine(subject, 120)} {args && cleanLine(JSON.stringify(args), 80)}
        </span>
        <span class="requests-actions">
          {report && <span class="muted">{duration(report.ms)}</span>}
          {report?.story !== undefined && (
            <a
              class="button quiet icon"
              href={addressOf('call', String(report.story))}
              title="The story of this call"
            >
              <Icon name="timeline" label="The story of this call" />
            </a>
          )}
          <Button look="quiet" icon="play" label={`Run ${cleanLine(name, 60)}`} onClick={onRun} />
          <Button look="quiet" icon="trash" label={`Remove ${cleanLine(name, 60)}`} onClick={remove} />
        </span>
      </div>
      {report && <Report report={report} request={request} />}
    </li>
  );
}

function Mark({ report }: { readonly report: RequestReportView | undefined }): VNode | null {
  if (report === undefined) return null;
  const isOk = report.problems.length === 0 && report.skipped === undefined;
  return (
    <span class={isOk ? 'requests-mark is-ok' : 'requests-mark is-wrong'}>
      <Icon name={isOk ? 'check' : 'cross'} label={isOk ? 'As expected' : 'Not as expected'} />
    </span>
  );
}

function Report({
  report,
  request,
}: {
  readonly report: RequestReportView;
  readonly request: RequestView;
}): VNode | null {
  const { problems, skipped, story } = report;
  if (skipped !== undefined) return <p class="muted">{clean(skipped)}</p>;
  if (problems.length === 0) return null;
  const outcome = story === undefined ? undefined : stories.value.get(story);
  const shown = outcome?.outcome ?? outcome?.error;
  return (
    <>
      <Problems report={report} />
      <div class="requests-beside">
        <div>
          <h2 class="label">Expected</h2>
          <CodeBlock label="Expected" language="json" text={JSON.stringify(request.expect, undefined, 2)} />
        </div>
        <div>
          <h2 class="label">Result</h2>
          <CodeBlock label="Result" language="json" text={JSON.stringify(shown ?? {}, undefined, 2)} />
        </div>
      </div>
    </>
  );
}

function Problems({ report }: { readonly report: RequestReportView }): VNode {
  return (
    <ul class="requests-problems">
      {report.problems.slice(0, 50).map(({ says }) => (
        <li key={says}>{clean(says.slice(0, 2000))}</li>
      ))}
    </ul>
  );
}

/** Definitions that are not as the file knows them. */
function Definitions(): VNode | null {
  const changed = [...reports.value.values()].filter(
    ({ what, problems }) => what !== 'request' && problems.length > 0,
  );
  if (changed.length === 0) return null;
  return (
    <section aria-label="Changed definitions">
      <h2>
        {counted(changed.length, 'definition has changed', 'definitions have changed')}{' '}
        <Badge>fullmcp test --update</Badge>
      </h2>
      {changed.map((report) => (
        <div key={`${report.what} ${report.name}`} class="requests-row">
          <strong>
            {report.what} {cleanLine(report.name, 120)}
          </strong>
          <Problems report={report} />
        </div>
      ))}
    </section>
  );
}

/** A tool that does not say that it only reads may change something. A file may come from anybody, so that the user decides. */
function isRisky({ kind, subject }: RequestView): boolean {
  return (
    kind === 'tool' &&
    !catalog.value?.tools.some(({ tool, isReadOnly }) => tool.name === subject && isReadOnly)
  );
}

function riskyTools(requests: readonly RequestView[]): readonly string[] {
  return [...new Set(requests.filter(isRisky).map(({ subject }) => subject))];
}
