import './compare.css';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { StateMark } from '../../parts/state-mark.js';
import { DifferenceView } from '../../parts/values/difference-view.js';
import { bytes, duration, moment } from '../../parts/values/format.js';
import { addressOf, route } from '../../state/route.js';
import { onlyDifferences } from '../../state/settings.js';
import { isOver } from '../../state/settled.js';
import { connections, stories } from '../../state/store.js';
import { useOutcome } from '../resources/reads.js';
import { CompareServers } from './compare-servers.js';
import { answersOf, type ComparedTexts, compareTexts, type FreshValue, resultOf } from './compare-texts.js';

/** A larger result is not compared: the page would stand still. */
const MAX_COMPARED = 2_000_000;
const SHOWN_FRESH = 50;

/** Two runs, or what two servers offer, and in which places they differ. */
export function Compare(): VNode {
  const [one = '', other = ''] = (route.value.name ?? '').split('..', 2);
  if (connections.value.has(one) && connections.value.has(other))
    return <CompareServers key={route.value.name} before={one} after={other} />;
  const [before, after] = [one, other].map((id) => stories.value.get(Number(id)));
  if (before !== undefined && after !== undefined)
    return <CompareRuns key={route.value.name} before={before} after={after} />;
  return (
    <>
      <h1 class="visually-hidden">Compare</h1>
      <Empty title="There is nothing to compare.">
        One of the two was cleared, or the inspector was started again since. Choose <em>Compare</em> at a
        run.
      </Empty>
    </>
  );
}

interface Runs {
  readonly before: Story;
  readonly after: Story;
}

function CompareRuns({ before, after }: Runs): VNode {
  const name = namesFor({ before, after });
  const servers = [before.connection, after.connection];
  return (
    <article class="place">
      <header class="place-head">
        <h1 class="mono">
          {isOneTool({ before, after }) && `${cleanLine(after.title, 120)} `}
          {name(before)} and {name(after)}
        </h1>
        <div class="place-actions">
          <OnlyDifferences />
          <a class="button quiet" href={addressOf('compare', `${after.id}..${before.id}`)}>
            Swap
          </a>
        </div>
      </header>
      <div class="compare-sides">
        <Side story={before} name={name(before)} sign="−" />
        <Side story={after} name={name(after)} sign="+" />
      </div>
      <Parts before={before} after={after} />
      {servers[0] !== servers[1] && servers.every((id) => connections.value.has(id)) && (
        <p>
          <a href={addressOf('compare', servers.join('..'))}>Compare what both servers offer</a>
        </p>
      )}
    </article>
  );
}

function OnlyDifferences(): VNode {
  return (
    <label class="form-check">
      <input
        type="checkbox"
        checked={onlyDifferences.value}
        onChange={({ currentTarget }) => {
          onlyDifferences.value = currentTarget.checked;
        }}
      />
      Only what differs
    </label>
  );
}

/** Both runs are of the same tool on the same connection, so that their numbers tell them apart. */
function isOneTool({ before, after }: Runs): boolean {
  return before.title === after.title && before.connection === after.connection;
}

/** A run by its number; where that is not enough, with its tool, and with its server. */
function namesFor(runs: Runs): (story: Story) => string {
  const isOneServer = runs.before.connection === runs.after.connection;
  return ({ title, run, connection }) => {
    if (isOneTool(runs)) return `#${run}`;
    const server = isOneServer ? undefined : connections.value.get(connection);
    const place = server === undefined ? '' : ` on ${server.name} ${server.revision ?? ''}`;
    return cleanLine(`${title} #${run}${place}`, 160);
  };
}

function Side({
  story,
  name,
  sign,
}: {
  readonly story: Story;
  readonly name: string;
  readonly sign: string;
}): VNode {
  const { id, at, state, serverMs, connection, earlier } = story;
  const server = connections.value.get(connection);
  return (
    <p class="compare-side">
      <span class="mono" aria-hidden="true">
        {sign}
      </span>
      <a href={addressOf('call', String(id))}>{name}</a>
      <StateMark state={state} />
      <span class="muted">
        {moment(at)}, {duration(serverMs)}
        {server && `, ${cleanLine(server.name, 60)} ${earlier?.revision ?? server.revision ?? ''}`}
        {earlier && ', from an earlier visit'}
      </span>
    </p>
  );
}

function Parts({ before, after }: Runs): VNode {
  const [one, other] = [useOutcome(before, MAX_COMPARED), useOutcome(after, MAX_COMPARED)];
  const args = useMemo(() => compareTexts(before.args ?? {}, after.args ?? {}), [before.args, after.args]);
  const answers = useMemo(
    () => compareTexts(answersOf(before), answersOf(after)),
    [before.questions, after.questions],
  );
  const results = useMemo(
    () => compareTexts(endOf(before, one.outcome), endOf(after, other.outcome)),
    [before.error, one.outcome, after.error, other.outcome],
  );
  const name = namesFor({ before, after });
  const waiting = [before, after].find((story) => !isOver(story));
  if (waiting !== undefined)
    return (
      <p role="status">
        <a href={addressOf('call', String(waiting.id))}>{name(waiting)}</a>{' '}
        {waiting.state === 'asks' ? 'waits for your answer.' : 'is not over yet.'}
      </p>
    );
  if (one.isFetching || other.isFetching) return <p class="muted">The results are fetched …</p>;
  const missing = [before, after].filter(
    (story, at) => story.outcomeBytes !== undefined && [one, other][at]?.outcome === undefined,
  );
  const fresh = [...results.fresh, ...args.fresh, ...answers.fresh];
  const hasAnswers = before.questions.length + after.questions.length > 0;
  return (
    <>
      {[before, after].map((story) => (
        <CutNote key={story.id} story={story} name={name(story)} />
      ))}
      {missing.map((story) => (
        <p key={story.id} class="compare-note">
          The result of {name(story)} has {bytes(story.outcomeBytes ?? 0)} and is not here to be compared.
        </p>
      ))}
      {missing.length === 0 && <Part name="Result" words={['results', 'are']} texts={results} isMain />}
      <Part name="Arguments" words={['arguments', 'are']} texts={args} />
      {hasAnswers && <Part name="Answers" words={['answers', 'are']} texts={answers} />}
      {fresh.length > 0 && <Fresh values={fresh} />}
    </>
  );
}

function CutNote({ story, name }: { readonly story: Story; readonly name: string }): VNode | null {
  if (story.earlier?.lacks.includes('result') !== true || story.outcome === undefined) return null;
  return <p class="compare-note">The history has only the beginning of the result of {name}.</p>;
}

/** The end of a call as a value. */
function endOf({ error }: Story, outcome: Story['outcome']): unknown {
  if (error === undefined) return outcome === undefined ? {} : resultOf(outcome);
  const { code, message, number, data } = error;
  return {
    error: { code, message, ...(number !== undefined && { number }), ...(data !== undefined && { data }) },
  };
}

function Part({
  name,
  words: [noun, are],
  texts,
  isMain = false,
}: {
  readonly name: string;
  readonly words: readonly [noun: string, are: string];
  readonly texts: ComparedTexts;
  /** The part that the comparison is about: whether it is equal is told to those who do not see it. */
  readonly isMain?: boolean;
}): VNode {
  const { before, after, isEqual } = texts;
  return (
    <section class="compare-part" aria-label={name}>
      <h2>{name}</h2>
      <p role={isMain ? 'status' : undefined}>
        The {noun} {isEqual ? `${are} equal.` : 'differ.'}
      </p>
      {(!isEqual || !onlyDifferences.value) && (
        <DifferenceView before={before} after={after} isFolded={onlyDifferences.value} />
      )}
    </section>
  );
}

/** Ids, times and durations: new each time, and shown apart. */
function Fresh({ values }: { readonly values: readonly FreshValue[] }): VNode {
  return (
    <section class="compare-part" aria-label="New each time">
      <h2>New each time, not counted</h2>
      <table class="compare-fresh">
        <thead>
          <tr>
            <th scope="col">field</th>
            <th scope="col">before</th>
            <th scope="col">after</th>
          </tr>
        </thead>
        <tbody>
          {values.slice(0, SHOWN_FRESH).map(({ path, before, after }, at) => (
            <tr key={at}>
              <th scope="row" class="mono">
                {cleanLine(path, 120)}
              </th>
              <td class="mono">{cleanLine(before, 120)}</td>
              <td class="mono">{cleanLine(after, 120)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {values.length > SHOWN_FRESH && <p class="muted">{values.length - SHOWN_FRESH} more.</p>}
    </section>
  );
}
