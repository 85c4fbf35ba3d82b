// A run of a program: its calls are steps of the handler, so that it continues after a question, with the results that it had.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { principalOf } from '../../protocol/caller.js';
import { canonical } from '../../protocol/canonical.js';
import {
  type CodeCall,
  type CodeEnd,
  type CodeRealm,
  type CodeRealms,
  type CodeResult,
  type CodeTurn,
  RealmLost,
} from '../../protocol/code/code-engine.js';
import { encodeBase64Url } from '../../protocol/encoding/base64.js';
import { sha256 } from '../../protocol/encoding/sha256.js';
import { McpError } from '../../protocol/errors.js';
import type { ToolResult } from '../results/tool-result.js';
import { Approvals, digestOf as fullDigestOf, type PlannedCall } from './approvals.js';
import { lookAhead } from './look-ahead.js';
import type { CallEnd } from './outcome-value.js';
import { planText } from './plan-text.js';
import { type CallState, isEnd, ProgramCalls, type ProgramParts, type UnendedCall } from './program-calls.js';
import { type ProgramCall, reportOf } from './report.js';
import { type ToldCalls, toldCalls } from './told-calls.js';

/** The calls of one program that are made at the same time; others wait. */
const MAX_IN_FLIGHT = 16;
/** The results of all calls of one program together, in characters. */
const MAX_RESULTS = 16_000_000;
/** The journal of a run that asks nothing. One that asks has the limit of `asking.maxBytes`. */
const MAX_JOURNAL = 32_000_000;
/** A realm is lost if another program in its thread cannot be interrupted. */
const MAX_REALMS = 5;

/** A step of a call, as it is kept. The last step of a call has its place in the order in which the program got the results. */
type Kept = CallState & { readonly of?: string; readonly n?: number; readonly at?: number };

/** The first step of a run. */
interface Head {
  readonly now: number;
  readonly seed: number;
  readonly engine: string;
}

/** A call that has ended, with its place in the order. */
interface Ended {
  readonly call: CodeCall;
  readonly kept: Kept & { readonly n: number };
}

/** Runs a program. Returns the result of the tool. */
export async function runCode(source: string, parts: ProgramParts): Promise<ToolResult | object> {
  const { ctx, settings } = parts;
  const realms = await parts.realms();
  const engine = settings.engine.id;
  ctx.allowJournal(MAX_JOURNAL);
  const head = await ctx.step(
    'program',
    (): Head => ({
      now: Date.now(),
      seed: crypto.getRandomValues(new Int32Array(1))[0] as number,
      engine,
    }),
  );
  if (head.engine !== engine)
    throw new McpError(
      'internal_error',
      `This program cannot continue: it was started in the engine "${head.engine}", and this server now has "${engine}". Run it again, without the calls that it has made.`,
    );
  const run = new ProgramRun(parts, { realms, source, ...head });
  try {
    const end = await run.toEnd();
    const report = reportOf(source, { ...run, end });
    return run.told?.withCalls(report, run.made) ?? report;
  } finally {
    run.close();
  }
}

interface Program extends Head {
  readonly realms: CodeRealms;
  readonly source: string;
}

class ProgramRun {
  /** The calls that were made, in their order. */
  readonly made: ProgramCall[] = [];
  readonly printed: string[] = [];
  /** The calls for a client that wants to know them. */
  readonly told: ToldCalls | undefined;
  readonly #parts: ProgramParts;
  readonly #program: Program;
  readonly #calls: ProgramCalls;
  readonly #approvals: Approvals | undefined;
  /** Everything that the program was given, to give it again to another realm. */
  readonly #given: CodeResult[] = [];
  #realm: CodeRealm | undefined;
  /** Calls whose results are in the journal, by the place of the result. */
  readonly #recorded = new Map<number, CodeCall>();
  readonly #waiting: CodeCall[] = [];
  /** Calls that wait for an approval. */
  #held: CodeCall[] = [];
  /** The numbers of the calls of tools that the caller does not have. */
  readonly #missing = new Set<number>();
  #plans = 0;
  readonly #ended: Ended[] = [];
  #inFlight = 0;
  #chars = 0;
  #place = 0;
  #delivered = 0;
  #keeping: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(parts: ProgramParts, program: Program) {
    this.#parts = parts;
    this.#program = program;
    this.#calls = new ProgramCalls(parts);
    this.told = toldCalls(parts.call);
    this.#approvals = parts.approval && new Approvals(parts.approval, parts.call);
  }

  /** Runs the program to its end. */
  async toEnd(): Promise<CodeEnd> {
    let turn = await this.#advance();
    for (;;) {
      this.printed.push(...turn.printed);
      if (turn.end !== undefined) return this.#checked(turn.end, turn.calls.length);
      const problem = await this.#take(turn.calls);
      if (problem !== undefined) return limit(problem);
      const next = await this.#next();
      if ('kind' in next) return next;
      turn = await this.#advance(this.#resultOf(next));
    }
  }

  close(): void {
    this.#realm?.end();
  }

  /** A result that is returned while calls are running would hide what they do. */
  #checked(end: CodeEnd, begun: number): CodeEnd {
    const { size } = this.#recorded;
    const open =
      begun + this.#waiting.length + this.#held.length + this.#inFlight + this.#ended.length + size;
    if (end.kind !== 'returned' || open === 0) return end;
    const were = open === 1 ? '1 call was' : `${open} calls were`;
    return limit(`The program returned, but ${were} not awaited. Put await before each call.`);
  }

  /** Gives the program a result, in its realm or, if that was lost, in another one. */
  async #advance(result?: CodeResult): Promise<CodeTurn> {
    if (result !== undefined) this.#given.push(result);
    const { realms, source, now, seed } = this.#program;
    for (let attempt = 1; ; attempt++) {
      try {
        if (this.#realm !== undefined) return await this.#realm.run(result);
        const realm = realms.realm({ source, now, seed, caller: principalOf(this.#parts.call) });
        this.#realm = realm;
        let turn = await realm.run();
        for (const each of this.#given) turn = await realm.run(each);
        return turn;
      } catch (error) {
        this.#realm?.end();
        this.#realm = undefined;
        if (!(error instanceof RealmLost)) throw error;
        if (attempt === MAX_REALMS) throw new McpError('overloaded', `${error.message}. Retry later.`);
      }
    }
  }

  /** Takes the calls that the program has made. Returns the problem if it made too many. */
  async #take(calls: readonly CodeCall[]): Promise<string | undefined> {
    const { maxCalls } = this.#parts.settings;
    for (const call of calls) {
      if (call.seq > maxCalls)
        return `The program made more than ${maxCalls} calls. Do the rest in another program.`;
      this.made.push({ ...call, state: 'waiting' });
      const kind = await this.#approvals?.kindOf(call);
      if (kind === 'missing') this.#missing.add(call.seq);
      if (kind === 'held') this.#held.push(call);
      else this.#begin(call);
    }
    return undefined;
  }

  #begin(call: CodeCall): void {
    const place = this.#placeOf(call);
    if (place === undefined) this.#waiting.push(call);
    else {
      this.#recorded.set(place, call);
      void this.#perform(call);
    }
  }

  /**
   * Asks about the calls that wait for an approval, together with those that the program would make after them. Returns the end of the
   * program if they are not approved. Nothing else is running: in a later run, this comes at the same place.
   */
  async #approve(approvals: Approvals): Promise<CodeEnd | undefined> {
    const { ctx } = this.#parts;
    const plan = `plan ${++this.#plans}`;
    try {
      ctx.client.require('elicitation');
      const { message, calls } = (await ctx.step(plan, () => this.#plan(approvals))) as Plan;
      // The message may show only a part. The approval is for this program, and for all arguments.
      const subject = canonical([this.#program.source, calls]);
      const answer = await ctx.askForApproval(message, subject, plan);
      if (answer.action !== 'accept' || answer.content.approve !== true)
        return limit(`The user did not approve ${callsOf(calls.length)} of the program. ${NOT_MADE}`);
      approvals.add(calls);
    } catch (error) {
      if (!McpError.is(error) || error.code !== 'missing_capability') throw error;
      return limit(
        `A person has to approve calls of this program, and this client cannot ask one. ${NOT_MADE}`,
      );
    }
    for (const call of this.#held.splice(0)) this.#begin(call);
    return undefined;
  }

  async #plan(approvals: Approvals): Promise<Plan> {
    const { realms, source, now, seed } = this.#program;
    const ahead = await lookAhead({
      realm: realms.realm({ source, now, seed, caller: principalOf(this.#parts.call) }),
      given: this.#given,
      held: this.#held,
      calls: this.#calls,
      approvals,
      maxCalls: this.#parts.settings.maxCalls,
      now: this.#given.at(-1)?.now ?? now,
    });
    return {
      message: planText(ahead),
      calls: ahead.calls.map((call) => [call.seq, fullDigestOf(call)]),
    };
  }

  /** The place of the result of a call, if the journal has it. */
  #placeOf({ seq }: CodeCall): number | undefined {
    for (let at = 0; ; at++) {
      const known = this.#parts.ctx.known(stepKey(seq, at)) as { readonly value: Kept } | undefined;
      if (known === undefined) return undefined;
      if (known.value.n !== undefined) return known.value.n;
    }
  }

  /** The next result: those of the journal first, in their order; then the first that arrives. An end if none will. */
  async #next(): Promise<Ended | CodeEnd> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#recorded.size === 0) this.#startWaiting();
      const at = this.#ended.findIndex(({ kept }) => kept.n === this.#delivered + 1);
      if (at >= 0) {
        this.#delivered++;
        const [next] = this.#ended.splice(at, 1);
        this.#recorded.delete(this.#delivered);
        return next as Ended;
      }
      if (this.#recorded.size > 0 && !this.#recorded.has(this.#delivered + 1)) throw diverged();
      if (this.#recorded.size === 0 && this.#inFlight === 0 && this.#ended.length === 0) {
        if (this.#approvals === undefined || this.#held.length === 0)
          return limit('The program waits for something that never happens.');
        const refusal = await this.#approve(this.#approvals);
        if (refusal !== undefined) return refusal;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #startWaiting(): void {
    while (this.#inFlight < MAX_IN_FLIGHT) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      this.#inFlight++;
      void this.#perform(call).finally(() => {
        this.#inFlight--;
        this.#wake();
      });
    }
  }

  /** Makes a call, or finds its result in the journal. Never rejects. */
  async #perform(call: CodeCall): Promise<void> {
    try {
      await this.#toItsEnd(call);
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#wake();
  }

  async #toItsEnd(call: CodeCall): Promise<void> {
    const { name, json } = call;
    const args = JSON.parse(json) as JsonObject;
    const isMissing = this.#missing.has(call.seq);
    let kept = await this.#step(call, 0, async (key) =>
      isMissing ? this.#calls.missing(name) : this.#calls.call(name, args, { key }),
    );
    for (let at = 1; kept.n === undefined; at++) kept = await this.#continue(call, at, kept as UnendedCall);
  }

  /** Continues a call that asks something, or has become a task. */
  async #continue(call: CodeCall, at: number, { ask, state, task }: UnendedCall): Promise<Kept> {
    const { name, json, seq } = call;
    if (ask === undefined) {
      const isKnown = this.#parts.ctx.known(stepKey(seq, at)) !== undefined;
      // Not inside of the step: a step that waits for days could not be saved when the process ends.
      const reply = isKnown ? {} : await this.#calls.follow(name, task as string);
      return this.#step(call, at, async () => reply);
    }
    const inputResponses = await this.#answers(stepKey(seq, at), ask);
    return this.#step(call, at, (key) =>
      task === undefined
        ? this.#calls.call(name, JSON.parse(json) as JsonObject, {
            key,
            inputResponses,
            ...(state !== undefined && { requestState: state }),
          })
        : this.#calls.answerTask(name, task, inputResponses),
    );
  }

  /** Asks the questions of a call for it. */
  async #answers(key: string, ask: NonNullable<UnendedCall['ask']>): Promise<JsonObject> {
    const { ctx } = this.#parts;
    const answers = Object.entries(ask).map(
      async ([name, request]) => [name, await ctx.relay(`${key}:${name}`, request)] as const,
    );
    return Object.fromEntries(await Promise.all(answers));
  }

  /** Runs a step of a call, or finds it in the journal. The ends of calls are kept one after the other, which is their order. */
  async #step(call: CodeCall, at: number, work: (key: string) => Promise<CallState>): Promise<Kept> {
    const { ctx } = this.#parts;
    const of: Pick<Kept, 'of'> = at === 0 ? { of: digestOf(call.name, JSON.parse(call.json)) } : {};
    let release: (() => void) | undefined;
    try {
      const kept = (await ctx.step(stepKey(call.seq, at), async ({ idempotencyKey }): Promise<Kept> => {
        this.told?.begin(call);
        const reply = await work(idempotencyKey);
        if (!isEnd(reply)) return { ...reply, ...of };
        release = await this.#turnToKeep();
        return { ...reply, ...of, n: ++this.#place, at: Date.now() };
      })) as Kept;
      if (kept.of !== of.of) throw diverged();
      if (kept.n !== undefined) this.#end(call, kept as Ended['kept']);
      return kept;
    } finally {
      release?.();
    }
  }

  async #turnToKeep(): Promise<() => void> {
    const before = this.#keeping;
    let release!: () => void;
    this.#keeping = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }

  #end(call: CodeCall, kept: Ended['kept']): void {
    this.#place = Math.max(this.#place, kept.n);
    this.#ended.push({ call, kept });
  }

  /** The result for the program. */
  #resultOf({ call: { seq, name }, kept }: Ended): CodeResult {
    const now = kept.at ?? this.#program.now;
    const made = this.made[seq - 1] as ProgramCall;
    made.state = 'error' in kept ? 'failed' : 'done';
    if (this.told && this.#approvals?.has(made)) made.isApproved = true;
    const { ctx, settings } = this.#parts;
    ctx.progress(this.#delivered, settings.maxCalls, name, this.told?.end(made, kept as CallEnd & Kept));
    if ('error' in kept) return { seq, now, kind: 'error', message: kept.error, code: kept.code };
    const { json } = kept as { readonly json: string };
    this.#chars += json.length;
    if (this.#chars <= MAX_RESULTS) return { seq, now, kind: 'value', json };
    const message = `The results of all calls have more than ${MAX_RESULTS} characters. Ask for less.`;
    return { seq, now, kind: 'error', message, code: 'results_too_large' };
  }
}

/** A plan, as it is kept. The calls are kept by their digests, because a journal may travel through the client. */
interface Plan {
  readonly message: string;
  readonly calls: readonly PlannedCall[];
}

const NOT_MADE = 'Nothing more was called.';

function callsOf(count: number): string {
  return count === 1 ? 'a call' : `${count} calls`;
}

function limit(message: string): CodeEnd {
  return { kind: 'limit', message };
}

function stepKey(seq: number, at: number): string {
  return `call ${seq}/${at}`;
}

const DIGEST_BYTES = 9;

/** Names a call by its tool and its arguments. */
function digestOf(name: string, args: unknown): string {
  const text = canonical([name, isObject(args) ? args : {}]);
  return encodeBase64Url(sha256(new TextEncoder().encode(text)).subarray(0, DIGEST_BYTES));
}

function diverged(): McpError {
  return new McpError(
    'internal_error',
    'This program cannot continue: it did not make the same calls as before it was interrupted. Nothing more was called. Run it again, without the calls that it has made.',
  );
}
