import { type Attributes, type Histogram, type MeterProvider, metrics } from '@opentelemetry/api';

// The metrics of the conventions: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/#metrics

type Side = 'client' | 'server';
type Measured = 'operation' | 'session';

/** The names under which spans and metrics are reported. */
export const SCOPE = 'fullmcp';

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
    const made = current.getMeter(SCOPE).createHistogram(`mcp.${name}.duration`, {
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
