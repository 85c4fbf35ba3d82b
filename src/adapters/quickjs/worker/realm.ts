// A realm: one instance of the engine with one program, in a worker thread.

import type {
  CodeCall,
  CodeEnd,
  CodeProgram,
  CodeResult,
  CodeTurn,
} from '../../../protocol/code/code-engine.js';
import type { Handle, Instance, WasmEngine } from './instance.js';
import { PRELUDE } from './prelude.js';
import type { RealmLimits } from './protocol.js';
import { FILE, lineIn, programOf, type RemoveTypes, SourceError, withoutTypesLibrary } from './source.js';

/** The steps between two questions of the engine whether it may go on. */
const STEPS_PER_TICK = 10_000;
/** In place of the number of a call, when the program is over. */
const NOT_SENT = 0;

/** The parts of a realm. */
export interface RealmParts {
  readonly engine: WasmEngine;
  readonly wasm: WebAssembly.Module;
  readonly limits: RealmLimits;
  /** Loads the function that removes types; resolves with undefined if it is not installed. */
  readonly removeTypes: () => Promise<RemoveTypes | undefined>;
  /** Called before the program is compiled, when everything is loaded. */
  readonly onBegin: () => void;
}

/** A program in an instance of the engine. */
export class Realm {
  readonly #limits: RealmLimits;
  #vm: Instance | undefined;
  #settle: Handle | undefined;
  #now: number;
  #ticks = 0;
  #turnEnds = 0;
  #seq = 0;
  #calls: CodeCall[] = [];
  #printed: string[] = [];
  #printedChars = 0;
  #sentChars = 0;
  #end: CodeEnd | undefined;

  private constructor(limits: RealmLimits, now: number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Starts a program, and runs it until it can only wait. */
  static async start(
    program: CodeProgram,
    parts: RealmParts,
  ): Promise<{ readonly realm: Realm; readonly turn: CodeTurn }> {
    const realm = new Realm(parts.limits, program.now);
    const vm = await realm.#open(program, parts);
    try {
      // Some sources take long to compile.
      parts.onBegin();
      const main = await realm.#compile(vm, program.source, parts);
      return { realm, turn: realm.#turn(() => realm.#begin(vm, program.seed, main)) };
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const { name, message, line } = error;
      return { realm, turn: { calls: [], printed: [], end: { kind: 'threw', name, message, line } } };
    }
  }

  /** Gives the program the result of a call, and runs it until it can only wait. */
  run(result: CodeResult): CodeTurn {
    this.#now = Math.max(this.#now, result.now);
    return this.#turn(() => {
      const vm = this.#vm as Instance;
      const [text, code] =
        result.kind === 'value'
          ? [result.json, '']
          : result.kind === 'error'
            ? [result.message, result.code]
            : ['', ''];
      vm.withScope(() =>
        vm.callFunction(
          this.#settle as Handle,
          vm.undefined,
          vm.newNumber(result.seq),
          vm.newString(result.kind),
          vm.newString(text),
          vm.newString(code),
        ),
      );
    });
  }

  /** Frees the instance. */
  close(): void {
    this.#vm?.dispose();
    this.#vm = undefined;
  }

  async #open(program: CodeProgram, { engine, wasm, limits }: RealmParts): Promise<Instance> {
    let random = program.seed;
    this.#turnEnds = performance.now() + limits.turnMs;
    this.#vm = await engine.QuickJS.create({
      wasm,
      memoryLimit: limits.memoryBytes,
      maxStackSize: limits.stackBytes,
      timezoneOffset: 0,
      interruptHandler: () => this.#mustStop(),
      wasi: (memory) => ({
        clock_time_get: (_clock: number, _precision: bigint, at: number): number => {
          new DataView(memory.buffer).setBigUint64(at, BigInt(this.#now) * 1_000_000n, true);
          return 0;
        },
        random_get: (at: number, length: number): number => {
          const bytes = new Uint8Array(memory.buffer, at, length);
          for (let index = 0; index < length; index++) {
            random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
            bytes[index] = random >>> 24;
          }
          return 0;
        },
        // The engine itself prints nothing.
        fd_write: (): number => 8,
      }),
    });
    return this.#vm;
  }

  async #compile(vm: Instance, source: string, { removeTypes }: RealmParts): Promise<string> {
    const compile = (text: string): void => void vm.compile(text, FILE);
    try {
      return programOf(source, compile, undefined);
    } catch (error) {
      const strip = await removeTypes();
      if (strip === undefined) throw error instanceof SourceError ? withoutTypesLibrary(error) : error;
      this.#turnEnds = performance.now() + this.#limits.turnMs;
      return programOf(source, compile, strip);
    }
  }

  #begin(vm: Instance, seed: number, main: string): void {
    vm.withScope((scope) => {
      const host = vm.newObject();
      const add = (name: string, fn: (...values: Handle[]) => Handle): void =>
        vm.setProp(host, name, vm.newFunction(name, fn));
      add('send', (name, json) => vm.newNumber(this.#send(name.toString(), json.toString())));
      add('mark', (stack) => this.#mark(vm, stack.toString()));
      add('print', (line) => this.#print(vm, line.toString()));
      add('done', (json) => this.#finish(vm, this.#returned(json.toString())));
      add('fail', (name, message, stack) =>
        this.#finish(vm, threw(name.toString(), message.toString(), stack.toString())),
      );
      add('touch', () => this.#finish(vm, { kind: 'unknown' }));
      const prelude = vm.evalCode(PRELUDE, '<prelude>');
      const made = vm.callFunction(prelude, vm.undefined, host, vm.newNumber(seed));
      this.#settle = scope.escape(made.getProp('settle'));
      vm.callFunction(made.getProp('start'), vm.undefined, vm.evalCode(main, FILE));
    });
  }

  #send(name: string, json: string): number {
    const { maxValueChars, maxTurnCalls, maxNameChars, maxSentChars } = this.#limits;
    if (this.#end !== undefined) return NOT_SENT;
    if (name.length > maxNameChars)
      throw new RangeError(`the name of a tool has ${name.length} characters, more than ${maxNameChars}`);
    if (json.length > maxValueChars)
      throw new RangeError(
        `${name}: the arguments have ${json.length} characters, more than ${maxValueChars}`,
      );
    if (this.#calls.length >= maxTurnCalls) {
      this.#stop(`The program made more than ${maxTurnCalls} calls at the same time. Make them in portions.`);
      return NOT_SENT;
    }
    this.#sentChars += json.length;
    if (this.#sentChars > maxSentChars) {
      this.#stop(`The arguments of all calls have more than ${maxSentChars} characters. Send less.`);
      return NOT_SENT;
    }
    this.#calls.push({ seq: ++this.#seq, name, json });
    return this.#seq;
  }

  /** Adds its line to the call that was just sent. */
  #mark(vm: Instance, stack: string): Handle {
    const call = this.#calls.pop();
    const line = lineIn(stack);
    if (call !== undefined) this.#calls.push(line === undefined ? call : { ...call, line });
    return vm.undefined;
  }

  #print(vm: Instance, line: string): Handle {
    const room = this.#limits.maxPrintedChars - this.#printedChars;
    this.#printedChars += line.length + 1;
    if (room > 0) this.#printed.push(line.slice(0, room));
    return vm.undefined;
  }

  #returned(json: string): CodeEnd {
    const { maxValueChars } = this.#limits;
    if (json.length <= maxValueChars) return { kind: 'returned', json };
    return {
      kind: 'limit',
      message: `The returned value has ${json.length} characters, more than ${maxValueChars}. Return less.`,
    };
  }

  // Only the first end counts.
  #finish(vm: Instance, end: CodeEnd): Handle {
    this.#end ??= end;
    return vm.undefined;
  }

  #stop(message: string): void {
    this.#end ??= { kind: 'limit', message };
  }

  #mustStop(): boolean {
    const { maxSteps, turnMs } = this.#limits;
    if (this.#end !== undefined && this.#end.kind !== 'returned') return true;
    if (++this.#ticks * STEPS_PER_TICK > maxSteps)
      this.#stop(`The program ran more than ${maxSteps} steps. Let tools do the work, or do less of it.`);
    else if (performance.now() > this.#turnEnds)
      this.#stop(`The program computed for more than ${turnMs} ms without waiting for a call.`);
    return this.#end !== undefined && this.#end.kind !== 'returned';
  }

  #turn(work: () => void): CodeTurn {
    this.#turnEnds = performance.now() + this.#limits.turnMs;
    try {
      work();
      if (this.#end === undefined) this.#vm?.executePendingJobs();
    } catch (error) {
      this.#end ??= this.#brokenBy(error as Error);
    }
    const turn = { calls: this.#calls, printed: this.#printed, end: this.#end };
    this.#calls = [];
    this.#printed = [];
    if (this.#end !== undefined) this.close();
    return turn;
  }

  /** The end of a program whose instance has failed. The instance is not used again. */
  #brokenBy({ name, message, stack }: Error): CodeEnd {
    if (/out of memory/.test(message))
      return {
        kind: 'limit',
        message: `The program used more than ${Math.floor(this.#limits.memoryBytes / 1_048_576)} MB of memory. Keep less at the same time.`,
      };
    if (/call stack|stack overflow|unreachable|memory access/.test(message))
      return { kind: 'limit', message: 'The program nests too deeply.' };
    return threw(name, message, stack ?? '');
  }
}

function threw(name: string, message: string, stack: string): CodeEnd {
  const advice = message === 'out of memory' ? ': keep less at the same time' : '';
  return { kind: 'threw', name, message: `${message}${advice}`, line: lineIn(stack) };
}
