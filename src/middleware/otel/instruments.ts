import {
  type Attributes,
  type Counter,
  type Histogram,
  type MeterProvider,
  metrics,
} from '@opentelemetry/api';
import { fullmcp } from '../../client/model/options.js';
import type { RefusedCaller } from '../../protocol/telemetry/events.js';

// The metrics of the conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/#metrics

type Side = 'client' | 'server';
type Measured = 'operation' | 'session';

/** The name and version under which spans and metrics are reported. */
export const SCOPE: readonly [name: string, version: string] = [fullmcp.name, fullmcp.version];

const BOUNDARIES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

const DESCRIPTIONS: Readonly<Record<`${Side}.${Measured}`, string>> = {
  'client.operation': 'The time from sending a request until its response.',
  'server.operation': 'The time from receiving a request until its response.',
  'client.session': 'The time that a client was connected.',
  'server.session': 'The time that a server held a session.',
};

/** Records durations. */
export type RecordDuration = (
  side: Side,
  measured: Measured,
  sinceMs: number,
  attributes: Attributes,
) => void;

/** Makes the function that records durations. A global provider may be registered later, or replaced. */
export function durations(own: MeterProvider | undefined): RecordDuration {
  let provider: MeterProvider | undefined;
  let histograms = new Map<string, Histogram>();

  function histogram(side: Side, measured: Measured): Histogram {
    const current = own ?? metrics.getMeterProvider();
    if (current !== provider) histograms = new Map();
    provider = current;
    const name = `${side}.${measured}` as const;
    const known = histograms.get(name);
    if (known !== undefined) return known;
    const made = current.getMeter(...SCOPE).createHistogram(`mcp.${name}.duration`, {
      description: DESCRIPTIONS[name],
      unit: 's',
      advice: { explicitBucketBoundaries: [...BOUNDARIES] },
    });
    histograms.set(name, made);
    return made;
  }

  return function recordDuration(side, measured, sinceMs, attributes) {
    histogram(side, measured).record((performance.now() - sinceMs) / 1000, attributes);
  };
}

/**
 * Makes the function that counts requests whose credentials were refused. The conventions have no metric for them: they are not calls, and
 * their reasons are not attributes, because there is no end to those.
 */
export function refusals(own: MeterProvider | undefined): (refused: RefusedCaller) => void {
  let provider: MeterProvider | undefined;
  let counter: Counter | undefined;
  return function countRefusal({ status }) {
    const current = own ?? metrics.getMeterProvider();
    if (current !== provider) counter = undefined;
    provider = current;
    counter ??= current.getMeter(...SCOPE).createCounter('fullmcp.server.credentials.refused', {
      description: 'The requests whose credentials were refused.',
      unit: '{request}',
    });
    counter.add(1, { 'http.response.status_code': status });
  };
}
