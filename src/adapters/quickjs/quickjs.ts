// The engine: QuickJS in WebAssembly, in worker threads.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { Programs, ProgramsParts } from '../../connect/routing/code-front.js';
import { programServer } from '../../extensions/code/program-server.js';
import { MissingPackageError } from '../../protocol/checks/optional-package.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import {
  type CodeEngine,
  type CodeRealm,
  type CodeRealms,
  RealmLost,
} from '../../protocol/code/code-engine.js';
import { McpError } from '../../protocol/errors.js';
import { describeSearch } from '../../server/code/code-tool.js';
import { declarationsOf } from '../../server/code/declarations.js';
import { codeFront } from '../../server/code/front.js';
import { type ClientCodeParts, clientCode } from './client-code.js';
import { type CallerShare, Thread } from './thread.js';
import { PRELUDE_VERSION } from './worker/prelude.js';
import type { RealmLimits, WorkerStart } from './worker/protocol.js';

/** The options of `quickjs`. */
export interface QuickJSOptions {
  /** The memory of one program, in bytes. Default: 32 MB. */
  readonly memoryBytes?: number;
  /** The steps of one program, of which a loop takes two or three with each round. Some seconds of computing. Default: 50,000,000. */
  readonly maxSteps?: number;
  /** The number of programs that may run at the same time, those that wait for a call included. Default: 64. */
  readonly maxPrograms?: number;
  /** The number of worker threads. Default: the number of cores, at most 4. */
  readonly threads?: number;
}

const optionTable = {
  memoryBytes: { is: 'count', min: 4_194_304, max: 1_073_741_824, default: 33_554_432 },
  maxSteps: { is: 'count', min: 100_000, default: 50_000_000 },
  maxPrograms: { is: 'count', max: 1000, default: 64 },
  threads: { is: 'count', max: 64 },
} as const satisfies OptionTable<QuickJSOptions>;

const PACKAGE = 'quickjs-wasi';
const TYPES_PACKAGE = '@swc/wasm-typescript';
/** Below this version, strings and buffers do not count as memory of the program. */
const LEAST_VERSION = [3, 3, 1] as const;

const FIXED_LIMITS = {
  stackBytes: 262_144,
  turnMs: 3000,
  maxValueChars: 1_000_000,
  maxPrintedChars: 64_000,
  maxTurnCalls: 2000,
  maxNameChars: 256,
  maxSentChars: 16_000_000,
} as const satisfies Partial<RealmLimits>;

/**
 * The engine for `createServer({ code: { engine: quickjs() } })`: QuickJS in WebAssembly, in worker threads, with an instance for each
 * program. Needs Node and the package `quickjs-wasi`; for programs in TypeScript, also `@swc/wasm-typescript`. Throws if
 * `quickjs-wasi` is not installed or too old.
 *
 * @example
 * createServer({ name: 'ops', version: '1.0.0', tools, code: { engine: quickjs() } });
 */
export function quickjs(options: QuickJSOptions = {}): CodeEngine {
  const { memoryBytes, maxSteps, maxPrograms, threads } = readOptions('quickjs', options, optionTable);
  const limits: RealmLimits = { ...FIXED_LIMITS, memoryBytes, maxSteps };
  const version = installedVersion();
  let start: Promise<WorkerStart> | undefined;
  const engine: Pick<CodeEngine, 'id' | 'open'> = {
    id: `${PACKAGE}@${version} prelude ${PRELUDE_VERSION} memory ${memoryBytes} steps ${maxSteps}`,
    async open() {
      start ??= load(limits).catch((error: unknown) => {
        start = undefined;
        throw error;
      });
      return new Realms(await start, {
        maxPrograms,
        threads: threads ?? Math.min(4, availableParallelism()),
      });
    },
  };
  return Object.assign(engine, {
    '~front': (parts: Parameters<typeof codeFront>[1]) => codeFront(engine, parts),
    '~programs': (parts: ProgramsParts): Programs => ({
      ...programServer(engine, parts),
      ...{ describeSearch, print: declarationsOf },
    }),
    '~client': (parts: ClientCodeParts) => clientCode(engine, parts),
  });
}

const require = createRequire(import.meta.url);

/** Reads the version before the server starts: with the first program, only the log would have the error. */
function installedVersion(): string {
  const version = readVersion();
  if (isOlder(version))
    throw new Error(
      `quickjs() needs ${PACKAGE} ${LEAST_VERSION.join('.')} or newer, and ${version} is installed. Update it: npm install ${PACKAGE}@latest`,
    );
  return version;
}

function readVersion(): string {
  try {
    return (require(`${PACKAGE}/package.json`) as { readonly version: string }).version;
  } catch (error) {
    throw new MissingPackageError(
      `quickjs() needs the package "${PACKAGE}". Install it: npm install ${PACKAGE}`,
      { cause: error },
    );
  }
}

async function load(limits: RealmLimits): Promise<WorkerStart> {
  const wasm = await WebAssembly.compile(await readFile(require.resolve(`${PACKAGE}/quickjs.wasm`)));
  return { wasm, engine: addressOf(PACKAGE) as string, types: addressOf(TYPES_PACKAGE), limits };
}

function isOlder(version: string): boolean {
  const parts = version.split(/[.-]/).map(Number);
  for (const [at, least] of LEAST_VERSION.entries()) {
    const part = parts[at] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

function addressOf(name: string): string | undefined {
  try {
    return pathToFileURL(require.resolve(name)).href;
  } catch {
    return undefined;
  }
}

interface RealmsSettings {
  readonly maxPrograms: number;
  readonly threads: number;
}

/**
 * The programs of a server, in threads that are started when they are needed. A caller that is known can have half of the programs, in all
 * threads but one, so that others can always start and compute.
 */
class Realms implements CodeRealms {
  readonly #start: WorkerStart;
  readonly #settings: RealmsSettings;
  readonly #threads = new Set<Thread>();
  readonly #shares = new Map<string, CallerShare>();
  #lastRealm = 0;
  #open = 0;
  #isClosed = false;

  constructor(start: WorkerStart, settings: RealmsSettings) {
    this.#start = start;
    this.#settings = settings;
  }

  realm: CodeRealms['realm'] = (program) => {
    if (this.#isClosed) throw new McpError('connection_closed', 'The server is closing');
    if (this.#open >= this.#settings.maxPrograms)
      throw new McpError(
        'overloaded',
        `${this.#open} programs are running, as many as this server allows. Retry later.`,
      );
    const { caller = '' } = program;
    const share = this.#shares.get(caller) ?? { programs: 0, spentMs: 0 };
    if (caller !== '' && share.programs >= Math.ceil(this.#settings.maxPrograms / 2))
      throw new McpError(
        'overloaded',
        `${share.programs} programs of this caller are running, as many as this server allows one caller. Retry later.`,
      );
    this.#shares.set(caller, share);
    share.programs++;
    this.#open++;
    const realm = ++this.#lastRealm;
    const thread = this.#threadFor(caller, share);
    thread.add(realm, share);
    let isOpen = true;
    const end: CodeRealm['end'] = () => {
      if (!isOpen) return;
      isOpen = false;
      this.#open--;
      if (--share.programs === 0) this.#shares.delete(caller);
      thread.remove(realm);
    };
    return {
      async run(result) {
        if (!isOpen) throw new RealmLost('it was ended');
        return thread.run(
          result === undefined ? { do: 'start', realm, program } : { do: 'result', realm, result },
        );
      },
      end,
    };
  };

  close: CodeRealms['close'] = async () => {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  };

  #threadFor(caller: string, share: CallerShare): Thread {
    const all = [...this.#threads];
    const own = all.filter((thread) => thread.has(share));
    if (caller !== '' && own.length >= Math.max(1, this.#settings.threads - 1)) return leastBusy(own);
    const idle = all.find(({ size }) => size === 0);
    if (idle !== undefined) return idle;
    if (all.length >= this.#settings.threads) return leastBusy(all);
    const thread: Thread = new Thread(this.#start, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }
}

function leastBusy(threads: readonly Thread[]): Thread {
  return threads.reduce((one, other) => (other.size < one.size ? other : one));
}
