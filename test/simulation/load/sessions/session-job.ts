// A task of a session: its result is awaited on a stream, on which its questions come, and which is resumed at any replica.

import type { StreamEvent } from '../../cluster/http-exchange.js';
import type { JobArgs } from '../../cluster/tools.js';
import { answerTo } from '../answers.js';
import { checkJob, type JobResult, lost } from '../job-client.js';
import { pauseBeforeRetry, type Session } from './session.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly message?: string };
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

const THINK_MS = 3000;
const FOREVER_MS = 100_000_000;

/** A job that runs as a task of a session. */
export class SessionJob {
  readonly #session: Session;
  readonly #args: JobArgs;
  readonly #asked = new Set<string>();

  constructor(session: Session, args: JobArgs) {
    this.#session = session;
    this.#args = args;
  }

  /** Runs the job. Resolves when the client knows its end, or cannot find it out. */
  async run(): Promise<void> {
    const { client } = this.#session;
    const taskId = await this.#create();
    // The client does not know whether there is a task, and nobody waits for it.
    if (taskId === undefined) return;
    client.known.set(taskId, this.#args.id);
    while (!this.#session.isEnding) {
      const { result, error } = await this.#awaitResult(taskId);
      if (error?.message.startsWith('Unknown task')) return lost(client, this.#args.id);
      const ended = { taskId, cancelAfter: Number.POSITIVE_INFINITY };
      if (result !== undefined) {
        const details = {
          status: 'completed',
          result: result as unknown as { structuredContent: JobResult },
        };
        return checkJob(client, this.#args, { ...ended, details });
      }
      if (error !== undefined && (await this.#statusOf(taskId)) === 'failed')
        return checkJob(client, this.#args, { ...ended, details: { status: 'failed', error } });
      await pauseBeforeRetry(client);
    }
  }

  async #create(): Promise<string | undefined> {
    const session = this.#session;
    const params = { name: 'job', arguments: { ...this.#args }, task: {} };
    let taskId: string | undefined;
    const take = (text: string): void => {
      const { result } = JSON.parse(text) as { result?: { task?: { taskId: string } } };
      taskId ??= result?.task?.taskId;
    };
    const onEvent = ({ data }: StreamEvent): void => void (data !== '' && take(data));
    const reply = await session.post({ id: session.nextId(), method: 'tools/call', params }, { onEvent });
    if ('status' in reply && reply.body !== undefined) take(reply.body);
    return taskId;
  }

  /** Waits for the response to `tasks/result`. Empty if the client cannot get it. */
  async #awaitResult(taskId: string): Promise<Pick<Message, 'result' | 'error'>> {
    const session = this.#session;
    const id = session.nextId();
    let lastEventId: string | undefined;
    let response: Message | undefined;
    const take = (text: string): void => {
      const message = JSON.parse(text) as Message;
      if (message.method === 'elicitation/create') void this.#answer(String(message.id), message);
      else if (message.method === undefined) response ??= message;
    };
    const options = {
      timeoutMs: FOREVER_MS,
      onEvent(event: StreamEvent) {
        lastEventId = event.id ?? lastEventId;
        if (event.data !== '') take(event.data);
      },
    };
    const reply = await session.post({ id, method: 'tasks/result', params: { taskId } }, options);
    if ('status' in reply && reply.body !== undefined) take(reply.body);
    while (response === undefined && lastEventId !== undefined && !session.isEnding) {
      await pauseBeforeRetry(session.client);
      const resumed = await session.get(lastEventId, options);
      if ('status' in resumed && resumed.status === 404) break;
    }
    return response ?? {};
  }

  async #statusOf(taskId: string): Promise<string> {
    const session = this.#session;
    const { body = '{}' } = await session.deliver({
      id: session.nextId(),
      method: 'tasks/get',
      params: { taskId },
    });
    return String((JSON.parse(body) as Message).result?.['status']);
  }

  async #answer(id: string, { params }: Message): Promise<void> {
    // An event that could not be stored for sure may come twice.
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    const { client } = this.#session;
    await client.world.sleep(client.world.random.between(0, THINK_MS));
    await this.#session.deliver({ id, result: answerTo(client, params?.message ?? '') });
  }
}
