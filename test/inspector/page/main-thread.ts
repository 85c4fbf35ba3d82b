// How long the tasks of a page's main thread take, as the browser's own trace says.

import type { CDPSession, Page } from 'playwright-core';

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The time on the clock, in microseconds. */
  readonly dur?: number;
  /** The time on a processor: other programs of a busy computer are not counted. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the main thread while `work` runs, in milliseconds on the processor. */
export async function longestTask(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline'],
    },
  });
  await work();
  await ended(session);
  await session.detach();
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ name, pid, tid }) => name === 'ThreadControllerImpl::RunTask' && mains.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error('The trace has no tasks of the main thread.');
  return Math.max(...tasks.map(({ tdur, dur }) => (tdur ?? dur ?? 0) / 1000));
}

async function ended(session: CDPSession): Promise<void> {
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
}

/** The time that `referenceWork` takes on the two slow cores on which all tasks were found to be below the limit. */
const REFERENCE_MS = 230;

/** How many times slower than those two cores this computer is, at least 1. */
export async function slowness(page: Page): Promise<number> {
  const taken: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++)
    taken.push(await longestTask(page, () => page.evaluate(referenceWork)));
  return Math.max(1, Math.min(...taken) / REFERENCE_MS);
}

function referenceWork(): void {
  let sum = 0;
  for (let at = 0; at < 30_000_000; at++) sum = (sum * 31 + at) | 0;
  (globalThis as { referenceSum?: number }).referenceSum = sum;
}
