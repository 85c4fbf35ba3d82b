import { type Client, connect } from 'fullmcp/client';
import type { Observation } from '../history.js';

/** The callers of the test. Each has clients of every revision. */
export const CALLERS = ['Ada', 'Grace'] as const;

/** The revisions of the clients: without sessions, with sessions and tasks, and with sessions alone. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2026-07-28', '2025-06-18'] as const;

/** A client of the load. */
export interface LoadClient {
  readonly client: Client;
  readonly name: string;
  readonly caller: string;
  /** Whether the client speaks a revision that has tasks. */
  readonly hasTasks: boolean;
}

/** The events of a client of the load. */
export interface ClientEvents {
  readonly saw: (observation: Observation) => void;
  /** Called with each problem that did not fail a call. */
  readonly onProblem: (problem: string) => void;
}

/** Connects client number `n`. Two neighbours differ only in their caller. */
export async function connectClient(
  url: string,
  n: number,
  { saw, onProblem }: ClientEvents,
): Promise<LoadClient> {
  const caller = CALLERS[n % CALLERS.length] as string;
  const revision = REVISIONS[Math.floor(n / CALLERS.length) % REVISIONS.length] as (typeof REVISIONS)[number];
  const client = await eventually(() =>
    connect(url, {
      headers: { 'x-caller': caller },
      revision,
      elicit({ message }) {
        const { question, to } = JSON.parse(message) as { question: string; to: string };
        saw({ saw: 'question', caller, to, question });
        return { action: 'accept', content: { answer: question, from: caller } };
      },
    }),
  );
  const name = `client ${n} (${revision})`;
  client.on('problem', ({ message, cause }) => onProblem(`${name}: ${message} ${String(cause ?? '')}`));
  return { client, caller, name, hasTasks: revision !== '2025-06-18' };
}

/** Retries until it succeeds, since any replica may die. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
