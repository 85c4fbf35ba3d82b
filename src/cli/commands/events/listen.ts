import type { Client, EventStore, ListedEvent, ReceivedEvent } from '../../../client/model/client.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { tryParseObject } from '../../../jsonrpc/try-parse.js';
import { cleanLine, shellWord } from '../../../tooling/clean.js';
import { ARGUMENT_OPTIONS } from '../../arguments/check-arguments.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { eventTypes, typeNamed } from './event-type.js';
import { givenValues } from './given-values.js';

const MAX_LINE = 100_000;

/** `fullmcp events listen`. */
export const listen: Command = {
  usage: '<target> <type> [name=value …]',
  details:
    'Prints a line for each event of a type, until Ctrl+C (exit code 130) or until --count events. The arguments of the subscription are\nwritten as those of `fullmcp call`. Events come on a stream if the server has streams, otherwise the server is polled.\nWith --json, each line is one JSON object; an error is the last line. A lost connection is opened again, and nothing in between is\nmissed as long as the server still has it. At the end, the cursor is printed with which --cursor continues.',
  words: [1, 1000],
  options: {
    count: { type: 'string', value: 'n', help: 'end with exit code 0 after n events' },
    cursor: { type: 'string', value: 'cursor', help: 'begin after this cursor instead of now' },
    ...ARGUMENT_OPTIONS,
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp events listen http://localhost:3000/mcp ticket_changed queue=billing',
      says: 'Prints each event with these arguments.',
    },
    {
      line: 'fullmcp events listen ./server.ts ticket_changed --count 1 --json',
      says: 'Waits for one event.',
    },
  ],
  json: 'JSON lines: { ok: true, kind: "event", event: { eventId: string, name: string, timestamp: string, data: object, cursor: string | null, meta?: object } } | { ok: true, kind: "gap" }, when events may be missing',
  run: async (input) => {
    const most = wholeNumber(input, 'count', [1, 1_000_000]) ?? Number.POSITIVE_INFINITY;
    await withTarget(
      input,
      async ({ client, words: [name, ...typed] }) => {
        const type = typeNamed(await eventTypes(client), name);
        checkDelivery(type);
        const { inputSchema = {} } = type;
        const args = await givenValues({ name: type.name, inputSchema }, typed, input);
        await follow(client, type, { args, input, most });
      },
      { reconnect: { maxAttempts: 20 } },
    );
  },
};

/** Fails if events of the type reach nobody but webhooks. */
function checkDelivery({ name, delivery }: ListedEvent): void {
  if (delivery.includes('push') || delivery.includes('poll')) return;
  throw usageError(
    `The server delivers ${JSON.stringify(name)} only to webhooks. Make a receiver with receiver() of fullmcp/events, or try one in the inspector: fullmcp inspect.`,
  );
}

interface Following {
  readonly args: JsonObject;
  readonly input: Typed;
  readonly most: number;
}

async function follow(
  client: Client,
  { name }: ListedEvent,
  { args, input, most }: Following,
): Promise<void> {
  const { out, signal } = input;
  const lines = new EventLines(input, most);
  client.on('problem', ({ message }) => out.aside(cleanLine(message, 500)));
  await using followed = await client.on(name, args, (event) => lines.add(event), {
    store: lines.position,
    onGap: () => lines.gap(),
    signal,
  });
  out.wait();
  const way = followed.delivery === 'push' ? 'on a stream' : 'by polling';
  out.note(`Following ${cleanLine(name, 128)} ${way}. Ctrl+C ends it.`);
  try {
    const end = await Promise.race([followed.ended, lines.end]);
    if (signal.aborted) throw new CommandError('interrupted', 'Stopped.');
    if (end !== undefined) throw end;
  } finally {
    lines.sayCursor();
  }
}

/** The lines of the command, which end after a number of them, and the position after the last one. */
class EventLines {
  readonly end: Promise<undefined>;
  readonly #done: () => void;
  readonly #input: Typed;
  #left: number;
  #cursor: string | undefined;

  constructor(input: Typed, most: number) {
    this.#input = input;
    this.#left = most;
    this.#cursor = input.text('cursor');
    let done: () => void = () => undefined;
    this.end = new Promise((resolve) => {
      done = () => resolve(undefined);
    });
    this.#done = done;
  }

  /** The position, as the client reads it first and writes it after each event, and when nothing happens. */
  readonly position: EventStore = {
    get: async () => (this.#cursor === undefined ? undefined : JSON.stringify({ cursor: this.#cursor })),
    set: async (_key, value) => {
      if (this.#left > 0) this.#move(tryParseObject(value)?.['cursor']);
      return true;
    },
    delete: async () => undefined,
  };

  /** Prints an event. After the last one, the client waits, so that it does not move on to events that are not printed. */
  add(event: ReceivedEvent): void | Promise<void> {
    const { out } = this.#input;
    const { eventId, timestamp, data } = event;
    out.jsonLine({ ok: true, kind: 'event', event });
    if (!out.isJson)
      out.styled(
        `${out.style('dim', cleanLine(timestamp, 40))}  ${out.style('bold', cleanLine(eventId, 128))}  ${cleanLine(JSON.stringify(data), MAX_LINE)}`,
      );
    this.#move(event.cursor);
    this.#left--;
    if (this.#left > 0) return;
    this.#done();
    return new Promise(() => undefined);
  }

  gap(): void {
    const { out } = this.#input;
    out.jsonLine({ ok: true, kind: 'gap' });
    out.note('Events may be missing: the server no longer has all of them.');
  }

  /** Says with which cursor a later command continues. */
  sayCursor(): void {
    if (this.#cursor !== undefined)
      this.#input.out.noteLine(`Continue after the last event with: --cursor ${shellWord(this.#cursor)}`);
  }

  #move(cursor: unknown): void {
    if (typeof cursor === 'string') this.#cursor = cursor;
  }
}
