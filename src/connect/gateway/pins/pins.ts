import { Turns } from '../../../async/turns.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import { lists } from '../../routing/lists.js';
import type { ListName } from '../../routing/router.js';
import { compareLists } from './compare.js';
import {
  digestOfText,
  type Lock,
  type PinnedList,
  type PinnedServer,
  parseLock,
  pinList,
  printLock,
} from './lock.js';
import type { PinChange, PinOptions } from './options.js';

/** Reads and writes files. Writing replaces a file as a whole, or not at all. */
export interface PinFiles {
  /** Resolves with undefined if the file does not exist. */
  readonly read: (path: string) => Promise<string | undefined>;
  readonly write: (path: string, text: string) => Promise<void>;
}

/** Everything that a server offers. */
export interface Offered {
  readonly instructions: string | undefined;
  readonly lists: Readonly<Record<ListName, readonly JsonObject[]>>;
}

export interface PinsParts {
  readonly files: PinFiles;
  readonly report: (message: string) => void;
}

const MAX_REPORTED = 10_000;

/** Compares what servers offer with the lock file, and knows what may be used. */
export class Pins {
  readonly #options: PinOptions;
  readonly #parts: PinsParts;
  readonly #servers = new Map<string, PinnedServer>();
  /** The digests of everything that each server offered last, to be pinned when it is accepted. */
  readonly #seen = new Map<string, PinnedServer>();
  readonly #reported = new Set<string>();
  #loaded: Promise<void> | undefined;
  readonly #writing = new Turns();

  constructor(options: PinOptions, parts: PinsParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Whether definitions must be compared before they are used. */
  get isStrict(): boolean {
    return this.#options.mode !== 'report';
  }

  /** Reads the lock file, once. Rejects if it is damaged. */
  load(): Promise<void> {
    this.#loaded ??= this.#read().catch((error) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  /** Whether everything of a server has to be recorded before anything of it is used. */
  async isNew(server: string): Promise<boolean> {
    await this.load();
    return !this.#servers.has(server) && this.#options.newServers !== 'quarantine';
  }

  /** Pins all that a new server offers. */
  async record(server: string, { lists: all, instructions }: Offered): Promise<void> {
    const pinned = (Object.keys(all) as ListName[]).map((kind) => [kind, pinList(kind, all[kind])]);
    await this.#pin(server, {
      instructions: digestOfText(instructions ?? ''),
      lists: Object.fromEntries(pinned),
    });
  }

  /** Compares a list, reports what differs, and returns the definitions that may be used. */
  async check(
    server: string,
    kind: ListName,
    { items, isWhole }: { readonly items: readonly JsonObject[]; readonly isWhole: boolean },
  ): Promise<readonly JsonObject[]> {
    await this.load();
    const now = pinList(kind, items);
    this.#see(server, { lists: { [kind]: now } });
    const known = this.#servers.get(server);
    if (known === undefined)
      this.#say(`${server}: the lock file does not have this server.${this.#consequence}`);
    const pinned: PinnedList = known?.lists[kind] ?? new Map();
    for (const change of known === undefined ? [] : compareLists(pinned, now))
      if (isWhole || change.change !== 'removed') this.#report({ server, kind: lists[kind].one, ...change });
    if (!this.isStrict) return items;
    return items.filter((item) => {
      const name = item[lists[kind].key] as string;
      return pinned.has(name) && pinned.get(name) === now.get(name);
    });
  }

  /** Compares the advice of a server, and returns it if it may be passed on. */
  async checkInstructions(server: string, instructions: string | undefined): Promise<string | undefined> {
    await this.load();
    const now = digestOfText(instructions ?? '');
    this.#see(server, { instructions: now, lists: {} });
    const known = this.#servers.get(server);
    if (known !== undefined && known.instructions !== now)
      this.#report({ server, kind: 'server', name: 'instructions', change: 'changed' });
    return this.isStrict && known?.instructions !== now ? undefined : instructions;
  }

  /** Pins what a server offered last, so that it may be used. */
  async accept(server: string): Promise<void> {
    await this.load();
    const seen = this.#seen.get(server);
    if (seen === undefined) return;
    await this.#pin(server, seen);
    for (const line of this.#reported) if (line.startsWith(`${server}: `)) this.#reported.delete(line);
  }

  get #consequence(): string {
    return this.isStrict ? ' It cannot be used until it is accepted.' : '';
  }

  #report(change: PinChange): void {
    const { server, kind, name, change: what, was } = change;
    const subject = kind === 'server' ? 'the instructions' : `the ${kind} "${shorten(name, 128)}"`;
    const origin = was === undefined ? '' : ` (before: "${shorten(was, 128)}")`;
    const verb = what === 'swapped' ? 'exchanged with another' : what;
    const result = what === 'removed' ? '' : this.#consequence;
    const line = `${server}: ${subject} was ${verb}${origin} since the lock file was written.${result}`;
    if (this.#say(line)) this.#options.onChange?.(change);
  }

  #say(line: string): boolean {
    if (this.#reported.has(line) || this.#reported.size >= MAX_REPORTED) return false;
    this.#reported.add(line);
    this.#parts.report(line);
    return true;
  }

  #see(server: string, part: PinnedServer): void {
    this.#seen.set(server, merged(this.#seen.get(server), part));
  }

  /** Memory follows the file, so that a write that fails pins nothing. */
  async #pin(server: string, part: PinnedServer): Promise<void> {
    await this.#writing.take(async () => {
      // Another process may have pinned other servers meanwhile.
      await this.#read();
      const next: Lock = new Map([...this.#servers, [server, merged(this.#servers.get(server), part)]]);
      await this.#parts.files.write(this.#options.file, printLock(next));
      this.#servers.set(server, next.get(server) as PinnedServer);
    });
  }

  async #read(): Promise<void> {
    const { file } = this.#options;
    const text = await this.#parts.files.read(file);
    if (text === undefined) this.#say(`The lock file ${file} does not exist. It is made now.`);
    else for (const [name, server] of parseLock(text, file)) this.#servers.set(name, server);
  }
}

function merged(one: PinnedServer | undefined, other: PinnedServer): PinnedServer {
  return {
    instructions: other.instructions ?? one?.instructions,
    lists: { ...one?.lists, ...other.lists },
    target: other.target ?? one?.target,
  };
}
