import diagnostics from 'node:diagnostics_channel';
import type { TraceEvents } from 'fullmcp';

/** Reports each call that a server in this process has taken more than `ms` for. */
export function reportSlowCalls(ms: number, report: (sentence: string) => void): void {
  const startedAt = new WeakMap<object, number>();
  diagnostics.subscribe('tracing:fullmcp:call:start', (event) => {
    startedAt.set(event as TraceEvents['call'], performance.now());
  });
  diagnostics.subscribe('tracing:fullmcp:call:asyncEnd', (event) => {
    const { side, server, call, error } = event as TraceEvents['call'];
    const took = performance.now() - (startedAt.get(event as TraceEvents['call']) ?? 0);
    if (side !== 'server' || took <= ms) return;
    report(
      `${server}: ${call.method} ${error === undefined ? 'took' : 'failed after'} ${Math.round(took)} ms`,
    );
  });
}
