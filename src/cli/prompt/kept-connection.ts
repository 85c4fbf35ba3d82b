// The connection of a prompt: one for all its lines, which is opened again when the server has ended.

import type { Client } from '../../client/model/client.js';
import type { ElicitFormHandler, ElicitUrlHandler, Handlers } from '../../client/model/handlers.js';
import type { SharedConnection, Typed } from '../command/definition.js';
import { logTo } from '../target/log.js';
import { openClient } from '../target/open.js';
import type { TypedTarget } from '../target/read-target.js';

/** The tasks that can be completed by their ids. */
const MAX_TASKS = 100;

export class KeptConnection implements SharedConnection {
  readonly target: TypedTarget;
  readonly #input: Typed;
  #client: Client | undefined;
  #wasOpen = false;
  /** The handlers of the command that runs. */
  #handlers: Handlers = {};
  #tasks: readonly string[] = [];

  constructor(input: Typed, target: TypedTarget) {
    this.#input = input;
    this.target = target;
  }

  /** The ids of the tasks that were started here, the last one first. */
  get tasks(): readonly string[] {
    return this.#tasks;
  }

  addTask(id: string): void {
    this.#tasks = [id, ...this.#tasks].slice(0, MAX_TASKS);
  }

  /** Answers the questions of the server with the handlers of a command, until it ends. */
  async during(handlers: Handlers, work: () => Promise<void>): Promise<void> {
    this.#handlers = handlers;
    try {
      await work();
    } finally {
      this.#handlers = {};
    }
  }

  /** The open connection, or a new one. */
  async client(): Promise<Client> {
    if (this.#client !== undefined && this.#client.info().status !== 'closed') return this.#client;
    if (this.#wasOpen) this.#input.out.note('The connection was closed. It is opened again.');
    const form: ElicitFormHandler = (...question) => {
      const { elicit } = this.#handlers;
      return typeof elicit === 'object' && elicit.form ? elicit.form(...question) : { action: 'cancel' };
    };
    const url: ElicitUrlHandler = (...question) => {
      const { elicit } = this.#handlers;
      return typeof elicit === 'object' && elicit.url ? elicit.url(...question) : { action: 'cancel' };
    };
    this.#client = await openClient(this.#input, this.target, {
      ...logTo(this.#input),
      elicit: { form, url },
    });
    this.#wasOpen = true;
    return this.#client;
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }
}
