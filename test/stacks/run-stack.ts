// Runs the program of a stack, and holds everything that happens to the model.

import { type Dispatch, type ErrorCode, McpError } from 'fullmcp';
import { readRecording } from '../../src/testing/recording/recording.js';
import { replayCalls } from '../../src/tooling/tape/replay-calls.js';
import { MAX_CONNECTIONS, Stack } from './build.js';
import { answer, type Caller, connectCaller, type Reaction, TASKS } from './callers.js';
import { HeldNames, INVENTED } from './held-names.js';
import {
  addLate,
  everyone,
  type Item,
  itemsOf,
  type Kind,
  type Leaf,
  markOf,
  type Who,
} from './reference-server.js';
import { LATE_NAMES, type LayerSpec, layersOf, leavesOf, type Op, type StackSpec } from './spec.js';
import { behind, namedIn, readerOf, type Seen, viewOf } from './view.js';

/** The promises of a stack. */
const promises = [
  'callers are kept apart',
  'hidden stays hidden',
  'listed things can be used',
  'once is once',
  'limits hold',
  'nothing grows',
  'a replay changes nothing',
  'the check comes before the effect',
  'no caller opens a dangerous URL',
  'no caller takes the place of another',
] as const;
export type PromiseName = (typeof promises)[number];

/** A broken promise. */
export class Violation extends Error {
  readonly promise: PromiseName;

  constructor(promise: PromiseName, detail: string) {
    super(detail);
    this.promise = promise;
  }
}

type Json = Record<string, unknown>;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const LISTS = {
  tool: ['tools/list', 'tools', 'name'],
  prompt: ['prompts/list', 'prompts', 'name'],
  resource: ['resources/list', 'resources', 'uri'],
  template: ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
} as const;

/** Runs a stack; the promise that it broke, if any. */
export async function runStack(spec: StackSpec): Promise<Violation | undefined> {
  const names = spec.program.some((op) => op.do === 'hostile') ? new HeldNames() : undefined;
  let run: Run | undefined;
  try {
    run = await Run.start(spec);
    for (const op of spec.program) await run.perform(op);
    await run.finish(names);
    return undefined;
  } catch (error) {
    if (error instanceof Violation) return error;
    throw error;
  } finally {
    names?.close();
    await run?.close();
  }
}

class Run {
  readonly #spec: StackSpec;
  readonly #stack: Stack;
  readonly #dispatch: Dispatch;
  readonly #callers = new Map<Who, Promise<Caller>>();
  /** The keys with which each caller has paid. */
  readonly #paid = new Map<string, Set<string>>();
  /** The definitions that a name has ever stood for, for each caller: a cache may still answer with them. */
  readonly #ever = new Map<string, Set<Item>>();
  #number = 0;
  /** The callers that have taken all connections that they may have. */
  readonly #crowded = new Set<Who>();
  /** The callers whose open questions keep all their connections: lists of a gateway leave out the servers that they cannot reach. */
  readonly #waiting = new Set<Who>();
  readonly #excused = new WeakSet<Reaction>();
  readonly #views = new Map<Who, readonly Seen[]>();
  readonly #names = new Map<Kind, readonly string[]>();
  #all: readonly Seen[] | undefined;

  static async start(spec: StackSpec): Promise<Run> {
    // A list that may be kept does not show what is added later.
    const listTtlMs = spec.program.some((op) => op.do === 'late') ? 0 : 60_000;
    const stack = new Stack(spec.top, { listTtlMs });
    const hasTape = spec.program.some((op) => op.do === 'replay');
    const dispatch = hasTape
      ? (call: never) => stack.tape(call, stack.top.dispatch as never)
      : stack.top.dispatch;
    const run = new Run(spec, stack, dispatch as never);
    // The lists of a gateway with pins are those that its servers have now, as its first caller sees them.
    if (run.#hasPins()) for (const kind of Object.keys(LISTS) as Kind[]) await run.#list('ada', kind);
    return run;
  }

  constructor(spec: StackSpec, stack: Stack, dispatch: Dispatch) {
    this.#spec = spec;
    this.#stack = stack;
    this.#dispatch = dispatch;
  }

  /** A caller, connected when it is needed first. */
  #caller(who: Who): Promise<Caller> {
    const caller = this.#callers.get(who) ?? connectCaller(this.#dispatch, who, this.#spec.wire);
    this.#callers.set(who, caller);
    return caller;
  }

  async close(): Promise<void> {
    for (const caller of this.#callers.values()) await (await caller).close();
    await this.#stack.close();
  }

  async perform(op: Op): Promise<void> {
    switch (op.do) {
      case 'list':
        return this.#list(op.who, op.kind);
      case 'use':
        return this.#use(op);
      case 'missing':
        return this.#missing(op.who, op.kind, op.at);
      case 'complete':
        return this.#complete(op.who, op.at);
      case 'search':
        return this.#search(op.who, op.at);
      case 'pay':
        return this.#pay(op);
      case 'hostile':
        return this.#hostile(op);
      case 'burst':
        return this.#burst(op);
      case 'follow':
        return this.#follow(op);
      case 'late':
        return this.#late(op);
      case 'task':
        return this.#task(op);
      case 'output':
        return this.#output(op);
      case 'crowd':
        return this.#crowd(op);
      case 'deploy':
        return this.#deploy(op);
      case 'visit':
        return this.#visit(op);
      case 'replay':
        return this.#replay();
      default:
        return op satisfies never;
    }
  }

  async finish(names: HeldNames | undefined): Promise<void> {
    for (let turns = 0; turns < 2; turns++) await turn();
    this.#stack.checkEnd();
    const [broken] = this.#stack.broken;
    if (broken !== undefined) throw new Violation('limits hold', broken);
    if (names === undefined) return;
    const { count, chars, longest } = names.held;
    const layers = layersOf(this.#spec.top).length;
    if (longest > 4096 || count > 60 * layers || chars > 60 * 1024 * layers)
      throw new Violation(
        'nothing grows',
        `${count} invented names are held, ${chars} characters together, ${longest} the longest`,
      );
  }

  // Calls

  /** Makes a request, and looks for things in what comes back that its caller must not get. */
  async #request(
    who: Who,
    method: string,
    params: Json,
    options?: Parameters<Caller['request']>[2],
  ): Promise<Reaction> {
    const caller = await this.#caller(who);
    const reaction = await caller.request(method, params, options);
    // A caller whose calls hold all of its connections may be refused, also in other words: a gateway lists without a server that it
    // cannot ask, and then does not know the tools of that server.
    // A link of 2025 has no code for an overload, only the words.
    const isOverload =
      'code' in reaction && (reaction.code === 'overloaded' || /too many connections/.test(reaction.message));
    if ((isOverload && this.#crowded.has(who)) || ('code' in reaction && this.#waiting.has(who)))
      this.#excused.add(reaction);
    this.#checkApart(who, reaction.text, `${method} ${print(params)}`);
    // While a gateway cannot ask a server, the tools of others appear whose names that server would take.
    if (!this.#waiting.has(who)) this.#checkHidden(who, reaction.text, `${method} ${print(params)}`);
    return reaction;
  }

  #checkApart(who: Who, text: string, what: string): void {
    for (const other of everyone) {
      if (other === who) continue;
      if (other !== 'nobody' && text.includes(`for:${other}`))
        throw new Violation(
          'callers are kept apart',
          `${who} got what is for ${other}: ${what} → ${cut(text)}`,
        );
      if (text.includes(`~${other}~`))
        throw new Violation(
          'callers are kept apart',
          `${who} got the words of ${other}: ${what} → ${cut(text)}`,
        );
    }
  }

  /** A result with the mark of a definition belongs to a definition that the caller sees. */
  #checkHidden(who: Who, text: string, what: string): void {
    if (!text.includes('«')) return;
    const view = this.#view(who);
    for (const [, leaf, name] of text.matchAll(/«(\S+) ([^»]*)»/g)) {
      const isSeen = view.some(
        ({ item }) => item.leaf === leaf && (item.name === name || isInstance(item, String(name))),
      );
      if (!isSeen)
        throw new Violation('hidden stays hidden', `${who} got ${leaf} ${name}: ${what} → ${cut(text)}`);
    }
  }

  /** The definitions that a caller sees now. They change only when a server adds some. */
  #view(who: Who): readonly Seen[] {
    const known = this.#views.get(who);
    if (known !== undefined) return known;
    const view = viewOf(this.#spec.top, who, this.#stack.changes);
    this.#views.set(who, view);
    return view;
  }

  /** The definitions that callers would see if nothing was hidden. */
  #unguarded(): readonly Seen[] {
    this.#all ??= everyone.flatMap((who) => viewOf(unguarded(this.#spec.top), who, this.#stack.changes));
    return this.#all;
  }

  /** All names that mean something to anybody, or would without the rules. */
  #universe(kind: Kind): readonly string[] {
    const known = this.#names.get(kind);
    if (known !== undefined) return known;
    const all = [...everyone.flatMap((who) => this.#view(who)), ...this.#unguarded()];
    const names = [...new Set(all.filter((seen) => seen.kind === kind).map(({ name }) => name))];
    this.#names.set(kind, names);
    return names;
  }

  #pick(kind: Kind, at: number): string | undefined {
    const names = this.#universe(kind);
    return names[at % names.length];
  }

  /** The name, at the top, of a tool of the reference servers that the caller sees. */
  #toolOf(who: Who, local: string, at: number): Seen | undefined {
    const found = this.#view(who).filter(({ item }) => item.kind === 'tool' && item.name === local);
    return found[at % found.length];
  }

  async #list(who: Who, kind: Kind): Promise<void> {
    const [method, field, key] = LISTS[kind];
    const items: string[] = [];
    let cursor: unknown;
    do {
      const reaction = await this.#request(who, method, cursor === undefined ? {} : { cursor });
      if (!('result' in reaction)) {
        if (this.#isExcused(reaction)) return;
        throw new Violation('listed things can be used', `${who}: ${method} failed: ${reaction.message}`);
      }
      items.push(...((reaction.result[field] ?? []) as Json[]).map((item) => String(item[key])));
      cursor = reaction.result['nextCursor'];
    } while (cursor !== undefined);
    const wanted = this.#view(who).filter((seen) => seen.kind === kind && seen.isListed);
    const names = new Set(wanted.map(({ name }) => name));
    const extra = items.filter((name) => !names.has(name) && !name.startsWith('output://'));
    if (extra.length > 0) throw new Violation('hidden stays hidden', `${who} is shown the ${kind} ${extra}`);
    const missed = [...names].filter((name) => !items.includes(name));
    // A gateway lists without the servers that it cannot ask, as for a caller whose calls take all of its connections.
    if (missed.length > 0 && !this.#waiting.has(who))
      throw new Violation('listed things can be used', `${who} is not shown the ${kind} ${missed}`);
  }

  async #use({ who, kind, at, thenAll }: Extract<Op, { do: 'use' }>): Promise<void> {
    if (!thenAll) {
      const name = this.#pick(kind, at);
      return name === undefined ? undefined : this.#useNamed(who, kind, name);
    }
    const own = this.#view(who).filter((seen) => seen.kind === kind);
    const hidden = own.filter(({ name }) =>
      everyone.some((other) => !this.#view(other).some((seen) => seen.kind === kind && seen.name === name)),
    );
    const shared = hidden.length > 0 ? hidden : own;
    const name = shared[at % shared.length]?.name;
    if (name === undefined) return;
    await this.#useNamed(who, kind, name);
    for (const other of everyone) if (other !== who) await this.#useNamed(other, kind, name);
  }

  async #useNamed(who: Who, kind: Kind, name: string): Promise<void> {
    const view = this.#view(who);
    const uri = name.replace('{id}', 'one');
    const isUri = kind === 'resource' || kind === 'template';
    const seen = isUri ? readerOf(view, uri) : namedIn(view, kind, name);
    if (seen?.item.leaf === '' || /(?:call_tool|search_tools)$/.test(name)) return;
    const local = isUri ? '' : (seen?.item.name ?? this.#localName(kind, name) ?? '');
    const [method, params] = requestOf(kind, isUri ? uri : name, this.#argumentsOf(who, kind, local));
    const reaction = await this.#request(who, method, params);
    const owners = isUri ? view.filter((each) => readerOf([each], uri) !== undefined) : [];
    if (seen !== undefined && owners.length > 1) {
      const isRight = owners.some(
        ({ item, who: as }) =>
          reaction.text.includes(`«${item.leaf} ${item.name.split('{')[0]}`) &&
          (!item.isPersonal || reaction.text.includes(`for:${as}`)),
      );
      if (!isRight && !this.#isExcused(reaction))
        throw new Violation('listed things can be used', `${who}: ${uri} → ${cut(reaction.text)}`);
    } else if (seen !== undefined)
      this.#checkUsed(who, seen, { what: `${method} ${print(params)}`, reaction });
    else await this.#checkUnknown(who, kind, { name: isUri ? uri : name, reaction });
  }

  #checkUsed(
    who: Who,
    { item, who: seenAs, name }: Seen,
    { what, reaction }: { readonly what: string; readonly reaction: Reaction },
  ): void {
    if (this.#isExcused(reaction)) return;
    const fail = (why: string): never => {
      throw new Violation('listed things can be used', `${who}: ${why}: ${what} → ${cut(reaction.text)}`);
    };
    if (!('result' in reaction)) return fail(`${name} cannot be used`);
    if (reaction.result['resultType'] === 'task') return;
    const ever = this.#ever.get(`${who} ${item.kind} ${name}`) ?? new Set();
    this.#ever.set(`${who} ${item.kind} ${name}`, ever.add(item));
    const isRight = [...ever].some(
      (each) =>
        reaction.text.includes(markOf(each.leaf, each.name)) ||
        // The server of a template decides what its instances are.
        (each.kind === 'template' && reaction.text.includes(`«${each.leaf} ${each.name.split('{')[0]}`)),
    );
    if (!isRight) fail(`${name} is not ${item.leaf} ${item.name}`);
    if (item.isPersonal && !reaction.text.includes(`for:${seenAs}`)) fail(`it is not for ${seenAs}`);
  }

  /** Something that is hidden looks as if it did not exist. */
  async #checkUnknown(
    who: Who,
    kind: Kind,
    { name, reaction }: { readonly name: string; readonly reaction: Reaction },
  ): Promise<void> {
    if (this.#isExcused(reaction)) return;
    if ('result' in reaction) {
      throw new Violation('hidden stays hidden', `${who} can use ${kind} ${name} → ${cut(reaction.text)}`);
    }
    const local = this.#localName(kind, name) ?? '';
    const other = `${name.slice(0, -1)}${name.endsWith('q') ? 'x' : 'q'}`;
    if (this.#view(who).some((seen) => seen.name === other) || readerOf(this.#view(who), other)) return;
    const [method, params] = requestOf(kind, other, this.#argumentsOf(who, kind, local));
    const unknown = await this.#request(who, method, params);
    if (this.#isExcused(unknown)) return;
    // The error of an inner gateway says more than that of an outer one.
    const isNested = layersOf(this.#spec.top).filter((layer) => layer.kind === 'gateway').length > 1;
    const shape = (each: Reaction, asked: string): string =>
      isNested
        ? shapeOf(each, asked).replace(/No server has the \w+ NAME\.?/, 'Resource not found: NAME')
        : shapeOf(each, asked);
    if (shape(reaction, name) !== shape(unknown, other))
      throw new Violation(
        'hidden stays hidden',
        `${who} can tell that ${kind} ${name} exists: ${shapeOf(reaction, name)} but ${shapeOf(unknown, other)}`,
      );
  }

  async #missing(who: Who, kind: Kind, at: number): Promise<void> {
    const known = this.#pick(kind, at);
    const name = ['__proto__', 'constructor', `${known}_nope`, '', `nope${at}`, 'nope://x'][at % 6] as string;
    const isUri = kind === 'resource' || kind === 'template';
    const view = this.#view(who);
    if (isUri ? readerOf(view, name) : namedIn(view, kind, name)) return;
    const [method, params] = requestOf(kind, name, {});
    const reaction = await this.#request(who, method, params);
    if ('result' in reaction && reaction.result['isError'] !== true)
      throw new Violation('hidden stays hidden', `${who} can use ${kind} "${name}" → ${cut(reaction.text)}`);
  }

  async #complete(who: Who, at: number): Promise<void> {
    const kind = at % 2 === 0 ? 'prompt' : 'template';
    const name = this.#pick(kind, at >> 1);
    if (name === undefined) return;
    const seen = this.#view(who).find((each) => each.kind === kind && each.name === name);
    const argument = { name: kind === 'prompt' ? 'topic' : 'id', value: '' };
    const ref = kind === 'prompt' ? { type: 'ref/prompt', name } : { type: 'ref/resource', uri: name };
    const reaction = await this.#request(who, 'completion/complete', { ref, argument });
    if (this.#isExcused(reaction)) return;
    const offers = /"(cats|one)"/.test(reaction.text);
    if (seen === undefined && offers)
      throw new Violation(
        'hidden stays hidden',
        `${who} can complete ${kind} ${name} → ${cut(reaction.text)}`,
      );
    const isLate = seen !== undefined && this.#isLate(seen.item);
    if (seen !== undefined && !offers && !isLate)
      throw new Violation(
        'listed things can be used',
        `${who} cannot complete ${name} → ${cut(reaction.text)}`,
      );
  }

  async #search(who: Who, at: number): Promise<void> {
    if (!this.#spec.top.search) return;
    const query = ['vault', 'public', 'describes', 'bank late'][at % 4] as string;
    const found = await this.#request(who, 'tools/call', {
      name: 'search_tools',
      arguments: { query, limit: 50 },
    });
    if (this.#isExcused(found) || !('result' in found)) return;
    const tools = ((found.result['structuredContent'] as Json | undefined)?.['tools'] ?? []) as Json[];
    const view = this.#view(who);
    for (const { name } of tools)
      if (!namedIn(view, 'tool', String(name)))
        throw new Violation('hidden stays hidden', `${who} finds the tool ${name}`);
    const seen = this.#toolOf(who, 'public', at);
    if (seen === undefined) return;
    const params = { name: 'call_tool', arguments: { name: seen.name, arguments: {} } };
    const reaction = await this.#request(who, 'tools/call', params);
    this.#checkUsed(who, seen, { what: print(params), reaction });
  }

  // Effects

  async #pay({ who, at, key, times }: Extract<Op, { do: 'pay' }>): Promise<void> {
    const seen = this.#toolOf(who, 'pay', at);
    if (seen === undefined) return;
    const invoice = `i${key}`;
    const effect = `${seen.item.leaf} pay ${invoice}`;
    const params = {
      name: seen.name,
      arguments: { invoice },
      _meta: { 'fullmcp/idempotencyKey': `key ${key}` },
    };
    for (let time = 0; time < times; time++) {
      const before = this.#stack.ledger.count(effect);
      const reaction = await this.#request(who, 'tools/call', params);
      if ('result' in reaction && reaction.result['isError'] !== true) {
        const payers = this.#paid.get(effect) ?? new Set();
        this.#paid.set(effect, payers.add(who));
      } else if (!this.#isExcused(reaction))
        throw new Violation('once is once', `${who} cannot pay ${invoice} → ${cut(reaction.text)}`);
      const [now, payers] = [this.#stack.ledger.count(effect), this.#paid.get(effect)?.size ?? 0];
      if (now !== payers)
        throw new Violation(
          'once is once',
          `${payers} callers paid ${effect} with their own key, and it ran ${now} times (${before} before ${who})`,
        );
    }
  }

  async #hostile({ who, at, length }: Extract<Op, { do: 'hostile' }>): Promise<void> {
    for (let count = 0; count < 6; count++) {
      const name = `${INVENTED}${at}.${count}.${'n'.repeat(length)}`;
      const prefixed = at % 2 === 0 ? name : `${this.#pick('tool', at)?.split('_')[0]}_${name}`;
      await this.#request(who, 'tools/call', { name: prefixed, arguments: {} });
      if (count > 0) continue;
      await this.#request(who, 'resources/read', { uri: `doc://${name}` });
      await this.#request(who, 'prompts/get', { name: prefixed });
      await this.#request(who, 'completion/complete', {
        ref: { type: 'ref/prompt', name: prefixed },
        argument: { name: 'topic', value: name },
      });
      const seen = this.#toolOf(who, 'pay', at);
      if (seen !== undefined)
        await this.#request(who, 'tools/call', {
          name: seen.name,
          arguments: {},
          _meta: { 'fullmcp/idempotencyKey': name },
        });
    }
  }

  async #burst({ who, at, count }: Extract<Op, { do: 'burst' }>): Promise<void> {
    const seen = this.#toolOf(who, 'echo', at);
    if (seen === undefined) return;
    // Each open call of an anonymous caller may need a connection of its own.
    this.#crowded.add(who);
    const texts = Array.from({ length: count }, (_, index) => `~${who}~${at}.${index % 2}`);
    const reactions = await Promise.all(
      texts.map((text) => this.#request(who, 'tools/call', { name: seen.name, arguments: { text } })),
    );
    reactions.forEach((reaction, index) => {
      if (this.#isExcused(reaction)) return;
      if (!reaction.text.includes(`${markOf(seen.item.leaf, 'echo')} ${texts[index]}`))
        throw new Violation(
          'callers are kept apart',
          `${who} said ${texts[index]} and got ${cut(reaction.text)}`,
        );
    });
  }

  // Changes

  async #follow({ who, at }: Extract<Op, { do: 'follow' }>): Promise<void> {
    if (this.#spec.wire !== 'raw') return;
    const uris = [
      ...this.#universe('resource'),
      ...this.#universe('template').map((name) => name.replace('{id}', 'one')),
    ];
    const controller = new AbortController();
    const updated: string[] = [];
    let isOpen = false;
    const stream = this.#request(
      who,
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: uris, toolsListChanged: true } },
      {
        signal: controller.signal,
        onNotification(method, { uri }) {
          if (method.endsWith('acknowledged')) isOpen = true;
          if (method === 'notifications/resources/updated') updated.push(String(uri));
        },
      },
    );
    for (let turns = 0; turns < 200 && !isOpen; turns++) await turn();
    for (const [leaf, { server }] of this.#stack.leaves)
      for (const item of leafItems(this.#spec.top, leaf))
        server.changed.resource(item.name.replace('{id}', 'one'));
    for (let turns = 0; turns < 6; turns++) await turn();
    controller.abort();
    await stream;
    const view = this.#view(who);
    for (const uri of updated)
      if (readerOf(view, uri) === undefined)
        throw new Violation('hidden stays hidden', `${who} hears of changes to ${uri} (${at})`);
  }

  async #late({ at, kind, name: index }: Extract<Op, { do: 'late' }>): Promise<void> {
    const leaves = leavesOf(this.#spec.top);
    const { leaf } = leaves[at % leaves.length] as Leaf;
    const names = LATE_NAMES[kind];
    const name = names[index % names.length] as string;
    const { late } = this.#stack.changes;
    const item: Item = { leaf, kind, name, isReadOnly: true };
    const added = late.get(leaf) ?? [];
    const spec = leaves.find((each) => each.leaf === leaf) as Leaf;
    const isTaken = [...itemsOf(spec), ...added].some((other) => other.kind === kind && other.name === name);
    // Pins compare what a server says about itself: that an inner gateway has another server for the same URI does not show, and an
    // instance of a pinned template may be read whether it is listed or not.
    const isShadow =
      kind === 'resource' && this.#hasPins() && this.#universe('resource').some((uri) => uri.endsWith(name));
    const isInTemplate =
      kind === 'resource' &&
      this.#unguarded().some(({ item: other }) => isInstance(other, name) && this.#areOne(leaf, other.leaf));
    if (isTaken || isShadow || isInTemplate) return;
    late.set(leaf, [...added, item]);
    this.#views.clear();
    this.#names.clear();
    this.#all = undefined;
    addLate(this.#stack.leaves.get(leaf)?.server as never, item);
    await turn();
    // A gateway notices it with the next list.
    for (const who of everyone) await this.#list(who, kind);
    // Pins hold it back, and not only in lists.
    const top = this.#hasPins() ? this.#unguarded().find((seen) => seen.item === item)?.name : undefined;
    if (top !== undefined) for (const who of everyone) await this.#useNamed(who, kind, top);
  }

  /** Whether two reference servers are one server to a gateway with pins: a template of one of them stands for what the other adds. */
  #areOne(leaf: string, other: string): boolean {
    if (leaf === other) return false;
    const members = layersOf(this.#spec.top).flatMap((layer) =>
      layer.kind === 'gateway' && layer.pins ? layer.members : [],
    );
    return members.some(({ of }) => {
      const leaves = leavesOf(of).map((each) => each.leaf);
      return leaves.includes(leaf) && leaves.includes(other);
    });
  }

  #isLate(item: Item): boolean {
    return [...this.#stack.changes.late.values()].some((items) => items.includes(item));
  }

  // Tasks, outputs and questions

  async #task({ who, at }: Extract<Op, { do: 'task' }>): Promise<void> {
    if (this.#spec.wire !== 'raw') return;
    const seen = this.#toolOf(who, 'job', at);
    if (seen === undefined) return;
    const capabilities = { extensions: { [TASKS]: {} } };
    const created = await this.#request(
      who,
      'tools/call',
      { name: seen.name, arguments: {} },
      { capabilities },
    );
    if (!('result' in created) || created.result['resultType'] !== 'task') {
      this.#checkUsed(who, seen, { what: `task ${seen.name}`, reaction: created });
      return;
    }
    const { taskId } = created.result;
    for (const other of everyone) {
      if (other === who) continue;
      // Callers that are one to the server behind a gateway share its tasks: only the id protects them.
      if (this.#whoAt(other, seen.item) === this.#whoAt(who, seen.item)) continue;
      const reaction = await this.#request(other, 'tasks/get', { taskId }, { capabilities });
      if ('result' in reaction)
        throw new Violation(
          'callers are kept apart',
          `${other} sees a task of ${who} → ${cut(reaction.text)}`,
        );
    }
    for (let turns = 0; turns < 100; turns++) {
      const reaction = await this.#request(who, 'tasks/get', { taskId }, { capabilities });
      if (this.#isExcused(reaction)) return;
      if ('result' in reaction && reaction.result['status'] === 'completed') {
        if (!reaction.text.includes(`for:${seen.who}`))
          throw new Violation('listed things can be used', `the task of ${who} is not for ${seen.who}`);
        return;
      }
      if (!('result' in reaction))
        throw new Violation(
          'listed things can be used',
          `the task of ${who} is lost → ${cut(reaction.text)}`,
        );
      await turn();
    }
  }

  /** The caller that the reference server of a definition sees. */
  #whoAt(who: Who, { leaf }: Item): Who | undefined {
    return whoAt(this.#spec.top, who, leaf);
  }

  async #output({ who, at }: Extract<Op, { do: 'output' }>): Promise<void> {
    const seen = this.#toolOf(who, 'long', at);
    if (seen === undefined) return;
    const reaction = await this.#request(who, 'tools/call', { name: seen.name, arguments: {} });
    if (this.#isExcused(reaction)) return;
    const [uri] = /output:\/\/[^"\s?]+/.exec(reaction.text) ?? [];
    if (uri === undefined) return;
    const own = await this.#request(who, 'resources/read', { uri });
    // A server that is mounted, or that is behind pins, is not asked for resources that it does not list.
    const isAsked = !layersOf(this.#spec.top).some(
      (layer) => layer.kind === 'mount' || (layer.kind === 'gateway' && layer.pins),
    );
    if ('code' in own && isAsked && !this.#isExcused(own))
      throw new Violation('listed things can be used', `${who} cannot read its output → ${cut(own.text)}`);
    // Behind a proxy that drops their identity, all callers are one, and the address is the protection.
    const budgets = layersOf(this.#spec.top).filter(({ use }) =>
      use.some(({ part }) => part === 'outputBudget'),
    );
    const isTop = budgets.length === 1 && budgets[0] === this.#spec.top;
    for (const other of everyone)
      if (other !== who && isTop) {
        const read = await this.#request(other, 'resources/read', { uri });
        if ('result' in read && who !== 'nobody')
          throw new Violation('callers are kept apart', `${other} reads the output of ${who}`);
      }
  }

  async #crowd({ who, other, at }: Extract<Op, { do: 'crowd' }>): Promise<void> {
    if (this.#spec.wire !== 'raw' || who === 'nobody') return;
    const seen = this.#toolOf(who, 'ask', at);
    const own = this.#toolOf(other, 'public', at);
    if (seen === undefined || own === undefined || this.#hasLimits() || this.#waiting.has(other)) return;
    // Behind a proxy that drops their identity, all callers are one.
    const isOneBehind = layersOf(this.#spec.top).some(
      (layer) =>
        (layer.kind === 'proxy' || layer.kind === 'gateway') &&
        layer.identity === 'drop' &&
        layersOf(layer).some((inner) => inner !== layer && 'link' in inner && inner.link === '2025'),
    );
    if (isOneBehind) return;
    this.#crowded.add(who);
    this.#waiting.add(who);
    for (let count = 0; count < MAX_CONNECTIONS + 2; count++)
      await this.#request(
        who,
        'tools/call',
        { name: seen.name, arguments: {} },
        { mustNotAnswer: true, capabilities: { experimental: { [`x${count}`]: {} } } },
      );
    const reaction = await this.#request(other, 'tools/call', { name: own.name, arguments: {} });
    if (!('result' in reaction))
      throw new Violation(
        'no caller takes the place of another',
        `${other} is not served while ${who} waits → ${cut(reaction.text)}`,
      );
  }

  async #deploy({ who, at, code }: Extract<Op, { do: 'deploy' }>): Promise<void> {
    const seen = this.#toolOf(who, 'book', at);
    if (this.#spec.wire !== 'raw' || seen === undefined) return;
    const leaf = this.#stack.leaves.get(seen.item.leaf);
    const params = { name: seen.name, arguments: {} };
    const asked = await this.#request(who, 'tools/call', params, { mustNotAnswer: true });
    if (!('result' in asked) || asked.result['resultType'] !== 'input_required') return;
    const { inputRequests, requestState } = asked.result as { inputRequests: Json; requestState: string };
    const isOpenCall = requestState.startsWith('fullmcp-proxy.');
    if (leaf?.deploy !== undefined && !isOpenCall && code !== 'first') leaf.deploy(code);
    const ran = this.#stack.ledger.steps.length;
    const inputResponses = Object.fromEntries(
      Object.entries(inputRequests).map(([key, question]) => [key, answer(question as Json, who, [])]),
    );
    const reaction = await this.#request(
      who,
      'tools/call',
      { ...params, inputResponses, requestState },
      { mustNotAnswer: true },
    );
    const steps = this.#stack.ledger.steps.slice(ran);
    if (leaf?.deploy !== undefined && code !== 'first') leaf.deploy('first');
    if (this.#isExcused(reaction)) return;
    const isRefused = !('result' in reaction) || reaction.result['isError'] === true;
    if (isRefused && steps.length > 0)
      throw new Violation(
        'the check comes before the effect',
        `the changed call was refused after ${steps.join(', ')} → ${cut(reaction.text)}`,
      );
    if ((code === 'first' || leaf?.deploy === undefined || isOpenCall) && isRefused)
      throw new Violation('listed things can be used', `${who} cannot answer → ${cut(reaction.text)}`);
  }

  async #visit({ who, at, scheme }: Extract<Op, { do: 'visit' }>): Promise<void> {
    const seen = this.#toolOf(who, 'link', at);
    if (this.#spec.wire === 'raw' || seen === undefined) return;
    const { visited } = await this.#caller(who);
    const url = scheme === 'https' ? 'https://example.com/' : `${scheme}:alert(1)`;
    await this.#request(who, 'tools/call', { name: seen.name, arguments: { url } });
    const bad = visited.find((each) => !each.startsWith('https:'));
    if (bad !== undefined)
      throw new Violation('no caller opens a dangerous URL', `${who} was asked to open ${bad}`);
  }

  async #replay(): Promise<void> {
    // It makes the calls of all callers, each with other capabilities, and has no connections left for that while others hold theirs.
    if (this.#spec.wire !== 'raw' || this.#waiting.size > 0) return;
    const { ledger, tape } = this.#stack;
    const before = print([ledger.effects, ledger.steps]);
    const caller = await this.#caller('ada');
    const replayed = replayCalls(
      readRecording(tape.recording),
      (capabilities) =>
        async (method, params = {}) => {
          const reaction = await caller.request(method, params as Json, {
            capabilities: capabilities as Json,
            mustNotAnswer: true,
          });
          if ('result' in reaction) return reaction.result as never;
          throw new McpError(reaction.code as ErrorCode, reaction.message);
        },
      {
        mayCall: () => false,
        ignore: [],
        strict: false,
        secrets: new Map(),
        timeoutMs: 10_000,
        signal: new AbortController().signal,
      } as never,
    );
    for await (const { call, result } of replayed) {
      const after = print([ledger.effects, ledger.steps]);
      if (after !== before)
        throw new Violation('a replay changes nothing', `${result}: ${print(call.params)} ran`);
    }
  }

  // Refusals that a limit explains

  #hasPins(): boolean {
    return layersOf(this.#spec.top).some((layer) => layer.kind === 'gateway' && layer.pins);
  }

  #hasLimits(): boolean {
    return layersOf(this.#spec.top).some(({ use }) =>
      use.some((part) => part.part === 'rateLimit' && part.limit < 100),
    );
  }

  /** A limit of the stack may refuse any call. */
  #isExcused(reaction: Reaction): boolean {
    if (this.#excused.has(reaction)) return true;
    return (
      'code' in reaction &&
      reaction.code === 'overloaded' &&
      this.#hasLimits() &&
      /Too many calls/.test(reaction.message)
    );
  }

  #localName(kind: Kind, name: string): string | undefined {
    return this.#unguarded().find((each) => each.kind === kind && each.name === name)?.item.name;
  }

  #argumentsOf(who: Who, kind: Kind, local: string): Json {
    if (kind === 'prompt') return local === 'hello' || local === 'whisper' ? { topic: 'cats' } : {};
    const text = `~${who}~${++this.#number}`;
    switch (local) {
      case 'echo':
      case 'note':
        return { text };
      case 'pay':
        return { invoice: text };
      case 'link':
        return { url: 'https://example.com/' };
      default:
        return {};
    }
  }
}

function requestOf(kind: Kind, name: string, args: Json): readonly [method: string, params: Json] {
  switch (kind) {
    case 'tool':
      return ['tools/call', { name, arguments: args }];
    case 'prompt':
      return ['prompts/get', { name, arguments: args }];
    default:
      return ['resources/read', { uri: name }];
  }
}

/** A failure without the name that the caller asked for, in whatever layer it is reported, and without the name that was probably meant. */
function shapeOf(reaction: Reaction, name: string): string {
  if ('result' in reaction) return 'a result';
  const { code, message, data } = reaction;
  let text = print([code, message, data]).replace(/\.? Did you mean .*?\?/g, '');
  // An inner layer knows it without the prefixes.
  for (let rest = name; rest.length > 2; rest = rest.replace(/^[^_+]*[_+]|^.*$/, ''))
    text = text.replaceAll(JSON.stringify(rest).slice(1, -1), 'NAME');
  return text.replaceAll(/(?:[\w-]+[_+])?NAME/g, 'NAME');
}

/** Whether a name is a URI that a template matches. */
function isInstance({ kind, name: template }: Item, name: string): boolean {
  return kind === 'template' && name !== template && name.startsWith(template.split('{')[0] as string);
}

/** The stack without anything that hides. */
function unguarded(layer: LayerSpec): LayerSpec {
  switch (layer.kind) {
    case 'server':
      return { ...layer, search: false, policy: false };
    case 'mount':
      return { ...layer, search: false, of: unguarded(layer.of) as never };
    case 'proxy':
      return { ...layer, search: false, identity: 'own', of: unguarded(layer.of) };
    case 'gateway':
      return {
        ...layer,
        search: false,
        identity: 'own',
        hides: [],
        pins: false,
        members: layer.members.map(({ name, of }) => ({ name, of: unguarded(of) })),
      };
    default:
      return layer satisfies never;
  }
}

function whoAt(layer: LayerSpec, who: Who, leaf: string): Who | undefined {
  switch (layer.kind) {
    case 'server':
      return layer.leaf === leaf ? who : undefined;
    case 'mount':
      return whoAt(layer.of, who, leaf);
    case 'proxy':
      return whoAt(layer.of, behind(layer, who), leaf);
    case 'gateway':
      return layer.members
        .map(({ of }) => whoAt(of, behind(layer, who), leaf))
        .find((each) => each !== undefined);
    default:
      return layer satisfies never;
  }
}

/** The resources and templates of one reference server. */
function leafItems(top: LayerSpec, leaf: string): readonly Item[] {
  return leavesOf(top)
    .filter((each) => each.leaf === leaf)
    .flatMap(itemsOf)
    .filter(({ kind }) => kind === 'resource' || kind === 'template');
}

const print = (value: unknown): string => JSON.stringify(value) ?? '';
const cut = (text: string): string => (text.length > 400 ? `${text.slice(0, 400)}…` : text);
