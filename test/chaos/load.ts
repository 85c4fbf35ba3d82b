import { randomUUID } from 'node:crypto';
import { type Client, connect } from 'fullmcp/client';

/** The counts of what clients got. */
interface LoadFigures {
  calls: number;
  questions: number;
  jobs: number;
  payments: number;
  streams: number;
  /** Requests that failed in a way that the client was told of. */
  failed: number;
  /** The jobs that were created and never ended. */
  lost: string[];
  /** Answers that belong to another question or caller. */
  mixed: string[];
}

/** The results of jobs and payments, to be compared with the ledger. */
export interface LoadResults {
  readonly figures: LoadFigures;
  readonly jobs: Map<string, readonly string[]>;
  readonly payments: Map<string, string>;
}

const PATIENCE_MS = 90_000;

/** Starts clients that call, ask, pay and run jobs until `stop`. Resolves when everything that was begun has ended. */
export function startLoad(url: string, clients: number): { readonly stop: () => Promise<LoadResults> } {
  const results: LoadResults = {
    figures: { calls: 0, questions: 0, jobs: 0, payments: 0, streams: 0, failed: 0, lost: [], mixed: [] },
    jobs: new Map(),
    payments: new Map(),
  };
  let isStopped = false;
  const running = Array.from({ length: clients }, (_, n) => run(n));
  return {
    async stop() {
      isStopped = true;
      await Promise.all(running);
      return results;
    },
  };

  async function run(n: number): Promise<void> {
    const caller = `caller ${n}`;
    const client = await eventually(() =>
      connect(url, {
        headers: { 'x-caller': caller },
        // Every other client speaks the newest revision that has sessions.
        ...(n % 2 === 1 && { revision: '2025-11-25' as const }),
        // The code is the question's own text, so that an answer to another question is noticed.
        elicit: ({ message }) => ({
          action: 'accept',
          content: { code: message.replace('Continue with ', '').replace('?', '') },
        }),
      }),
    );
    try {
      for (let turn = 0; !isStopped; turn++) {
        const id = `${n}-${turn}-${randomUUID().slice(0, 8)}`;
        await [job, pay, ask, slow, echo][turn % 5]?.(client, id);
      }
    } finally {
      await client.close();
    }
  }

  async function job(client: Client, id: string): Promise<void> {
    const { figures } = results;
    let task: Awaited<ReturnType<Client['startTool']>>;
    try {
      task = await client.startTool('job', { id }, { timeoutMs: 30_000 });
    } catch {
      // The client does not know whether there is a task, and nobody waits for it.
      figures.failed++;
      return;
    }
    try {
      const result = await task.result({ maxTimeoutMs: PATIENCE_MS });
      const { code, nonces, job: echoed } = result.data as { code: string; nonces: string[]; job: string };
      if (code !== id || echoed !== id) figures.mixed.push(id);
      results.jobs.set(id, nonces);
      figures.jobs++;
    } catch (error) {
      const status = await client
        .task(task.id ?? '')
        .status()
        .catch((problem) => problem as Error);
      figures.lost.push(`${id}: ${String(error)} ${JSON.stringify(status)}`);
    }
  }

  async function pay(client: Client, id: string): Promise<void> {
    const key = randomUUID();
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        const result = await client.callTool('pay', { id }, { idempotencyKey: key, timeoutMs: 30_000 });
        const { nonce, payment } = result.data as { nonce: string; payment: string };
        if (payment !== id) results.figures.mixed.push(id);
        results.payments.set(id, nonce);
        results.figures.payments++;
        return;
      } catch (error) {
        results.figures.failed++;
        // The client knows that the outcome is unknown: it must not repeat the call with another key.
        if (String(JSON.stringify(error)).includes('unknown_outcome')) return;
      }
    }
  }

  async function ask(client: Client, id: string): Promise<void> {
    try {
      const result = await client.callTool('ask', { id }, { timeoutMs: 30_000 });
      const { code, call } = result.data as { code: string; call: string };
      if (code !== id || call !== id) results.figures.mixed.push(id);
      results.figures.questions++;
    } catch {
      results.figures.failed++;
    }
  }

  async function slow(client: Client, id: string): Promise<void> {
    try {
      const result = await client.callTool(
        'slow',
        { id },
        { timeoutMs: 30_000, onProgress: () => undefined },
      );
      if ((result.data as { call: string }).call !== id) results.figures.mixed.push(id);
      results.figures.streams++;
    } catch {
      results.figures.failed++;
    }
  }

  async function echo(client: Client, id: string): Promise<void> {
    try {
      const result = await client.callTool('echo', { id }, { timeoutMs: 30_000 });
      if ((result.data as { id: string }).id !== id) results.figures.mixed.push(id);
      results.figures.calls++;
    } catch {
      results.figures.failed++;
    }
  }
}

async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
