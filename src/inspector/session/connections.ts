// All connections of an inspector.

import { McpError } from '../../protocol/errors.js';
import type { Revision } from '../../protocol/tables/revisions.js';
import type { ChatView } from '../contract/chat.js';
import type { ConnectionView, TargetSpec } from '../contract/connection.js';
import type { InspectorOptions, OpenedTarget } from '../contract/options.js';
import { historyNameOf, InspectedConnection } from './connection/connection.js';
import { KnownTasks } from './connection/known-tasks.js';
import { SharedParts } from './connection/shared-parts.js';
import { TaskFile } from './task-file.js';

const MAX_CONNECTIONS = 50;

export class Connections {
  readonly shared: SharedParts;
  readonly #options: InspectorOptions;
  readonly #connections = new Map<string, InspectedConnection>();
  readonly #taskFile: TaskFile;
  #last = 0;

  constructor(options: InspectorOptions) {
    this.#options = options;
    this.#taskFile = new TaskFile(options.taskFile);
    this.shared = new SharedParts(options, {
      connection: (id) => this.#connections.get(id)?.view,
      chat: (id) => this.#connections.get(id)?.chat?.view,
    });
    const { fixed } = options;
    if (fixed === undefined) return;
    const { server, name, seesJournal = false } = fixed;
    const opened = { target: server, options: {}, address: name, typed: name };
    void this.#add(opened, {}, { isFixed: true, seesJournal }).connect();
  }

  get views(): readonly ConnectionView[] {
    return [...this.#connections.values()].map((connection) => connection.view);
  }

  get chats(): readonly ChatView[] {
    return [...this.#connections.values()].flatMap(({ chat }) => (chat === undefined ? [] : [chat.view]));
  }

  get(id: string): InspectedConnection {
    const connection = this.#connections.get(id);
    if (connection !== undefined) return connection;
    throw new McpError('invalid_params', `There is no connection "${id.slice(0, 40)}".`);
  }

  find(id: string): InspectedConnection | undefined {
    return this.#connections.get(id);
  }

  /** Begins to connect. */
  async open(spec: TargetSpec): Promise<InspectedConnection> {
    const { openTarget } = this.#options;
    if (openTarget === undefined)
      throw new McpError(
        'forbidden',
        'This inspector shows one server only. To see others, run: fullmcp inspect',
      );
    this.#requireRoom();
    const opened = await openTarget(spec);
    const earlier = await this.shared.history.runs(historyNameOf(opened));
    const connection = this.#add(opened, spec, {
      isFixed: false,
      seesJournal: opened.journalMark !== undefined,
    });
    this.shared.book.restore(connection.id, earlier);
    void connection.connect();
    return connection;
  }

  /** A connection to the same server that speaks this revision and no other. It is opened if there is none. */
  async inRevision(connection: InspectedConnection, revision: Revision): Promise<InspectedConnection> {
    const { opened, spec } = connection.init;
    const isSame = (one: InspectedConnection): boolean =>
      one.init.opened.target === opened.target && one.status === 'ready' && one.view.revision === revision;
    const found = [connection, ...this.#connections.values()].find(isSame);
    if (found !== undefined) return found;
    requireOwn(connection);
    this.#requireRoom();
    const { seesJournal } = connection.init;
    const other = this.#add({ ...opened, options: { ...opened.options, revision } }, spec, {
      isFixed: false,
      seesJournal,
    });
    other.requestedRevision = revision;
    await other.connect();
    const { failure } = other;
    if (other.status === 'ready') return other;
    await this.remove(other.id);
    throw new McpError('connect_failed', failure?.message ?? 'The connection was closed.');
  }

  /** Closes a connection and forgets it. */
  async remove(id: string): Promise<void> {
    const connection = this.get(id);
    requireOwn(connection);
    await connection.close();
    const { shared } = this;
    shared.book.clear(id, () => false);
    shared.messages.filter((head) => head.connection !== id);
    shared.clearLogs(id);
    shared.asking.forget(id);
    this.#connections.delete(id);
    shared.feed.emit({ type: 'disconnected', id });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()));
    await this.shared.inbox.close();
    await this.shared.history.idle;
    this.shared.feed.close();
  }

  #requireRoom(): void {
    if (this.#connections.size >= MAX_CONNECTIONS)
      throw new McpError('overloaded', `There are ${MAX_CONNECTIONS} connections already. Close one first.`);
  }

  #add(
    opened: OpenedTarget,
    spec: TargetSpec,
    { isFixed, seesJournal }: { readonly isFixed: boolean; readonly seesJournal: boolean },
  ): InspectedConnection {
    const id = `c${++this.#last}`;
    const { shared } = this;
    const { address } = opened;
    const tasks = new KnownTasks(() => {
      shared.feed.connectionChanged(id);
      void this.#taskFile.keep(address, tasks.all);
    });
    const connection = new InspectedConnection({ id, opened, spec, isFixed, seesJournal, tasks, shared });
    this.#connections.set(id, connection);
    void this.#taskFile.of(address).then((known) => {
      tasks.load(known);
      connection.changed();
    });
    return connection;
  }
}

/** A server of the same process stays connected. */
function requireOwn(connection: InspectedConnection): void {
  if (connection.init.isFixed)
    throw new McpError('forbidden', 'This connection belongs to the program that shows the inspector.');
}
