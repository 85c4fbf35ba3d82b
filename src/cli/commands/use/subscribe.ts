import type { Change, Client } from '../../../client/model/client.js';
import type { LogMessage } from '../../../client/model/options.js';
import type { LogLevel } from '../../../protocol/tables/log-level.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { LOG_OPTIONS, logLine } from '../../target/log.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp subscribe`. */
export const subscribe: Command = {
  usage: '<target> [uri …]',
  details:
    'Prints a line for each change of a list, of these resources or of these tasks, and for each log message with --log, until Ctrl+C\n(exit code 130) or until --count lines. With --json, each line is one JSON object; an error is the last line. A lost connection is opened\nagain, and everything counts as changed then.',
  words: [1, 1000],
  options: {
    count: { type: 'string', value: 'n', help: 'end with exit code 0 after n lines' },
    task: { type: 'string', multiple: true, value: 'id', help: 'a task whose changes are printed' },
    ...LOG_OPTIONS,
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp subscribe http://localhost:3000/mcp notes://all',
      says: 'Prints a line each time that the resource or a list changes.',
    },
    {
      line: 'fullmcp subscribe ./server.ts --log info --json --count 1',
      says: 'Waits for one change or message.',
    },
  ],
  json: 'JSON lines: { ok: true, kind: "tools" | "prompts" | "resources" } | { ok: true, kind: "resource", uri: string } | { ok: true, kind: "task", id: string, state: object } | { ok: true, kind: "log", level: string, logger?: string, data: unknown }',
  run: async (input) => {
    const most = wholeNumber(input, 'count', [1, 1_000_000]) ?? Number.POSITIVE_INFINITY;
    const level = input.text('log');
    const lines = new Lines(input, most);
    await withTarget(
      input,
      async ({ client, words }) => {
        client.on('status', ({ status, reason }) => {
          if (status === 'closed')
            lines.fail(reason ?? new CommandError('connect', 'The connection was closed.'));
          else lines.lost(status !== 'ready');
        });
        // Over HTTP, only the stream of the subscription is lost.
        client.on('problem', ({ message }) => {
          if (message.startsWith(INTERRUPTED)) lines.lost(true);
        });
        await using subscription = await client.subscribe(
          { tools: true, prompts: true, resources: true, uris: words, tasks: input.texts('task') },
          { onChange: (change) => lines.change(change) },
        );
        input.out.wait();
        announce(client, subscription.accepted, input);
        await lines.end;
      },
      {
        reconnect: { maxAttempts: 20 },
        ...(level !== undefined && { logLevel: level as LogLevel, onLog: (message) => lines.log(message) }),
      },
    );
  },
};

const INTERRUPTED = 'The subscription was interrupted';

function announce(client: Client, accepted: object, input: Typed): void {
  const names = Object.entries(accepted)
    .filter(([, value]) => value === true || (Array.isArray(value) && value.length > 0))
    .map(([name, value]) =>
      Array.isArray(value) ? value.map((one) => cleanLine(String(one))).join(', ') : name,
    );
  const canLog = input.text('log') !== undefined && client.server.capabilities['logging'] !== undefined;
  if (names.length === 0 && !canLog)
    throw new CommandError(
      'failed',
      'The server announces none of these changes, so there is nothing to wait for.',
    );
  input.out.note(
    `Subscribed to ${[...names, ...(canLog ? ['log messages'] : [])].join(', ')}. Ctrl+C ends it.`,
  );
}

/** The lines of the command, which end after a number of them, at Ctrl+C, or with the connection. */
class Lines {
  readonly end: Promise<void>;
  readonly fail: (reason: unknown) => void;
  readonly #done: () => void;
  readonly #input: Typed;
  #left: number;
  #isLost = false;

  constructor(input: Typed, most: number) {
    this.#input = input;
    this.#left = most;
    const { promise, resolve, reject } = withResolvers();
    this.end = promise;
    this.#done = resolve;
    this.fail = reject;
    // Nobody waits for the end before the server has agreed.
    promise.catch(() => undefined);
    const stop = (): void => reject(new CommandError('interrupted', 'Stopped.'));
    if (input.signal.aborted) stop();
    else input.signal.addEventListener('abort', stop, { once: true });
  }

  /** Says that the connection was lost, and when it is there again. */
  lost(isLost: boolean): void {
    if (isLost === this.#isLost) return;
    this.#isLost = isLost;
    this.#input.out.note(
      isLost
        ? 'The connection was lost. Reconnecting…'
        : 'Connected again. Changes in between may be missed.',
    );
  }

  change(change: Change): void {
    // After an interruption, everything counts as changed.
    this.lost(false);
    this.#print({ ok: true, ...change }, changeLine(change));
  }

  log(message: LogMessage): void {
    this.#print({ ok: true, kind: 'log', ...message }, logLine(message));
  }

  #print(json: object, line: string): void {
    if (this.#left === 0) return;
    this.#left--;
    this.#input.out.jsonLine(json);
    this.#input.out.value(line);
    if (this.#left === 0) this.#done();
  }
}

function changeLine(change: Change): string {
  if (change.kind === 'resource') return `changed: ${cleanLine(change.uri, 2000)}`;
  if (change.kind !== 'task') return `changed: ${change.kind}`;
  const { status, statusMessage } = change.state;
  return cleanLine(`task ${change.id} ${status} ${statusMessage ?? ''}`.trimEnd(), 500);
}

function withResolvers(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve: () => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}
