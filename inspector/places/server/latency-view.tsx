import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Story } from '../../../src/inspector/contract/story.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Empty } from '../../parts/empty.js';
import { counted, duration } from '../../parts/values/format.js';
import { type Latency, type LatencyStep, latencyOf, timesOf } from './latency.js';

const MAX_ROWS = 50;

/** How long the calls of this connection took: all of them as a picture, and each name as a row. */
export function LatencyView({ stories }: { readonly stories: readonly Story[] }): VNode {
  const chosen = useSignal('');
  const field = useId();
  const rows = byTitle(stories);
  const latency = latencyOf(timesOf(stories, chosen.value === '' ? undefined : chosen.value));
  if (rows.length === 0 || latency === undefined)
    return (
      <Empty title="No calls yet.">
        Each call that ends is counted here, without the time that you took.
      </Empty>
    );
  return (
    <div class="server-latency">
      <div class="server-latency-head">
        <label for={field} class="muted">
          Calls of
        </label>
        <select
          id={field}
          class="field server-select"
          value={chosen.value}
          onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
        >
          <option value="">everything</option>
          {rows.map(([title]) => (
            <option key={title} value={title}>
              {cleanLine(title, 80)}
            </option>
          ))}
        </select>
      </div>
      <Numbers latency={latency} />
      <Histogram steps={latency.steps} />
      <table class="server-table">
        <caption class="visually-hidden">Latency by name</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            {['Calls', 'Median', '90 %', 'Slowest'].map((head) => (
              <th key={head} scope="col" class="is-number">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map(([title, each]) => (
            <tr key={title}>
              <th scope="row" class="mono">
                {cleanLine(title, 80)}
              </th>
              <td class="is-number">{each.count}</td>
              <td class="is-number">{duration(each.median)}</td>
              <td class="is-number">{duration(each.p90)}</td>
              <td class="is-number">{duration(each.slowest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Numbers({ latency }: { readonly latency: Latency }): VNode {
  const numbers = [
    [String(latency.count), latency.count === 1 ? 'call' : 'calls'],
    [duration(latency.median), 'median'],
    [duration(latency.p90), '90 % within'],
    [duration(latency.p99), '99 % within'],
    [duration(latency.slowest), 'slowest'],
  ] as const;
  return (
    <dl class="server-numbers">
      {numbers.map(([value, name]) => (
        <div key={name}>
          <dt class="label muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A column for each step of time. Screen readers get the same as a table. */
function Histogram({ steps }: { readonly steps: readonly LatencyStep[] }): VNode {
  const most = Math.max(1, ...steps.map(({ count }) => count));
  return (
    <>
      <div class="server-histogram" aria-hidden="true">
        {steps.map(({ from, to, count }) => (
          <div
            key={from}
            class="server-histogram-step"
            title={`${spanOf(from, to)}: ${counted(count, 'call')}`}
          >
            <span class="label">{count > 0 ? count : ''}</span>
            <span class="server-histogram-bar" style={{ height: `${(count / most) * 100}%` }} />
            <span class="label muted">{shortTime(from)}</span>
          </div>
        ))}
      </div>
      <table class="visually-hidden">
        <caption>Calls by their time</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Calls</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ from, to, count }) => (
            <tr key={from}>
              <th scope="row">{spanOf(from, to)}</th>
              <td>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The names with the most calls first. */
function byTitle(stories: readonly Story[]): readonly (readonly [string, Latency])[] {
  const titles = [...new Set(stories.map(({ title }) => title))];
  return titles
    .flatMap((title) => {
      const latency = latencyOf(timesOf(stories, title));
      return latency === undefined ? [] : [[title, latency] as const];
    })
    .sort(([, one], [, other]) => other.count - one.count);
}

const spanOf = (from: number, to: number): string => `${shortTime(from)} to ${shortTime(to)}`;
const shortTime = (ms: number): string => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);
