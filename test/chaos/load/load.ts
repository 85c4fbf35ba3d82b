import type { Observation } from '../history.js';
import { ask, type CallParts, echo, job, pay, slow } from './calls.js';
import { connectClient, eventually, type LoadClient } from './clients.js';
import { type WatchedTopic, watchTopic } from './watching.js';

/** The load of a kill test. */
export interface Load {
  readonly observations: readonly Observation[];
  /** The requests that failed in a way that the client was told of, by the code of the error. */
  readonly failures: ReadonlyMap<string, number>;
  /** The problems of clients that did not fail a call. */
  readonly problems: readonly string[];
  /** The jobs that have begun and not ended. */
  readonly openJobs: () => ReadonlySet<string>;
  /** Resolves when everything that was begun has ended. */
  readonly stop: () => Promise<void>;
}

const calls = [job, pay, ask, slow, echo];
const topics: readonly WatchedTopic[] = [
  { name: 'first', kind: 'resource' },
  { name: 'second', kind: 'resource' },
  { name: 'notes', kind: 'list' },
];

/** Starts clients that call, ask, pay, run jobs and subscribe until `stop`. */
export function startLoad(url: string, clients: number): Load {
  const observations: Observation[] = [];
  const failures = new Map<string, number>();
  const problems: string[] = [];
  const openJobs = new Set<string>();
  let isStopped = false;
  let task: { readonly id: string; readonly caller: string } | undefined;
  const parts: CallParts = {
    saw(observation) {
      observations.push(observation);
      if (observation.saw === 'task') openJobs.add(observation.job);
      if (observation.saw === 'job' || observation.saw === 'failure') openJobs.delete(observation.job);
    },
    onFailure(error) {
      const { code = 'unknown' } = error as { readonly code?: string };
      failures.set(code, (failures.get(code) ?? 0) + 1);
      parts.onProblem(`A request failed: ${String(error)}`);
    },
    onProblem: (problem) => problems.push(`${new Date().toISOString()} ${problem}`),
    onTask(created) {
      task = created;
    },
  };
  const running = Array.from({ length: clients }, (_, n) => run(n));
  const watching = topics.map((topic) => watchTopic({ ...parts, url, topic, isStopped: () => isStopped }));
  return {
    observations,
    failures,
    problems,
    openJobs: () => openJobs,
    async stop() {
      isStopped = true;
      await Promise.all([...running, ...watching]);
    },
  };

  async function run(n: number): Promise<void> {
    const from = await eventually(() => connectClient(url, n, parts));
    try {
      for (let turn = 0; !isStopped; turn++) {
        const call = calls[turn % calls.length];
        if (call !== job || from.hasTasks) await call?.(from, `${n >> 1} ${turn}`, parts);
        await intrude(from);
      }
    } finally {
      await from.client.close();
    }
  }

  /** Tries to read the task of another caller. */
  async function intrude({ client, caller, hasTasks }: LoadClient): Promise<void> {
    if (task === undefined || task.caller === caller || !hasTasks) return;
    const what = `${caller} has read the task ${task.id} of ${task.caller}`;
    const status = client.task(task.id).status({ timeoutMs: 30_000 });
    task = undefined;
    const succeeded = await status.then(
      () => true,
      () => false,
    );
    parts.saw({ saw: 'intrusion', what, succeeded });
  }
}
