// Builds the parts of a stack, with a probe behind each limit.

import { createServer, type Dispatch, type Middleware, memoryStore, type Server } from 'fullmcp';
import type { GatewayRule } from 'fullmcp/gateway';
import { createHandler } from 'fullmcp/http';
import {
  audit,
  cache,
  circuitBreaker,
  concurrency,
  logging,
  outputBudget,
  policy,
  rateLimit,
  retry,
  sizeLimit,
} from 'fullmcp/middleware';
import { proxy } from 'fullmcp/proxy';
import { type Recorder, recorder } from 'fullmcp/testing';
import { transform } from 'fullmcp/transform';
import { ownRuntime } from '../../src/adapters/runtime/own-runtime.js';
import { makeGateway } from '../../src/connect/gateway/make-gateway.js';
import { memoryFetch } from '../../src/testing/memory/fetch.js';
import { addLate, type BookCode, everyone, Ledger, referenceServer, type Who } from './reference-server.js';
import type { GatewaySpec, LayerSpec, LinkSpec, MountSpec, Part, ServerSpec } from './spec.js';
import { type Changes, TRANSFORMED, viewOf } from './view.js';

interface Built {
  readonly dispatch: Dispatch;
  readonly close: () => Promise<void>;
}

/** The connections of one proxy to an older server. */
export const MAX_CONNECTIONS = 20;

/** A reference server whose code a deployment can replace. */
interface Deployable {
  server: Server;
  readonly deploy: ((code: BookCode) => void) | undefined;
}

/** The parts of a stack that run. */
export class Stack {
  readonly ledger = new Ledger();
  readonly changes: Changes = { late: new Map() };
  readonly leaves = new Map<string, Deployable>();
  /** Sentences about limits that were not kept. */
  readonly broken: string[] = [];
  readonly #ends: (() => Promise<void>)[] = [];
  readonly #atEnd: (() => void)[] = [];
  readonly top: Built;
  readonly tape: Recorder = recorder();
  readonly #listTtlMs: number;

  constructor(spec: LayerSpec, { listTtlMs }: { readonly listTtlMs: number }) {
    this.#listTtlMs = listTtlMs;
    this.top = this.#build(spec);
  }

  /** The checks that can only be made when nothing runs any more. */
  checkEnd(): void {
    for (const check of this.#atEnd) check();
  }

  async close(): Promise<void> {
    await this.top.close();
    for (const end of this.#ends) await end();
  }

  #build(spec: LayerSpec): Built {
    switch (spec.kind) {
      case 'server':
        return this.#server(spec);
      case 'mount': {
        const server = this.#mount(spec);
        return { dispatch: server.dispatch, close: () => server.close() };
      }
      case 'proxy': {
        const inner = this.#build(spec.of);
        const { target, options } = this.#linkTo(inner, spec.link);
        const built = proxy(
          target as never,
          {
            ...options,
            identity: spec.identity === 'drop' ? 'drop' : ownIdentity,
            use: this.#use(spec),
            search: spec.search,
            logger: quiet,
            maxConnections: MAX_CONNECTIONS,
          } as never,
        );
        return { dispatch: built.dispatch, close: () => built.close().then(inner.close) };
      }
      case 'gateway':
        return this.#gateway(spec);
      default:
        return spec satisfies never;
    }
  }

  #server(spec: ServerSpec): Built {
    const { leaf } = spec;
    const store = memoryStore();
    const make = (code: BookCode): Server => this.#reference(spec, { store, code });
    const original = make('first');
    const leafOf: Deployable = {
      server: original,
      deploy: (code) => {
        leafOf.server = code === 'first' ? original : make(code);
        if (code !== 'first')
          for (const item of this.changes.late.get(leaf) ?? []) addLate(leafOf.server, item);
      },
    };
    this.leaves.set(leaf, leafOf);
    return {
      dispatch: (call) => leafOf.server.dispatch(call),
      close: () => leafOf.server.close(),
    };
  }

  #reference(spec: ServerSpec, { store, code }: { readonly store: object; readonly code: BookCode }): Server {
    const { search } = spec;
    const access = policy({
      default: 'allow',
      rules: [
        { effect: 'approve', tools: 'wipe' },
        { effect: 'deny', tools: 'wipe', caller: (auth) => auth?.subject === 'bob' },
      ],
    });
    return referenceServer({
      spec,
      ledger: this.ledger,
      code,
      options: {
        store,
        listTtlMs: this.#listTtlMs,
        use: this.#use(spec),
        search,
        ...(spec.policy && spec.tools.includes('wipe') && { access }),
      },
    });
  }

  #mount(spec: MountSpec): Server {
    const { of, prefix, transform: change, search } = spec;
    const inner = of.kind === 'mount' ? this.#mount(of) : this.#mounted(of);
    const changed =
      change === undefined ? inner : transform(inner as never, this.#transformOf(of, change) as never);
    return createServer({
      name: 'outer',
      version: '1.0.0',
      secret: 'x'.repeat(32),
      logger: quiet,
      changes: true,
      listTtlMs: this.#listTtlMs,
      use: this.#use(spec),
      search,
      mount: { [prefix]: changed as never },
    } as never) as Server;
  }

  #mounted(spec: ServerSpec): Server {
    const server = this.#reference(spec, { store: memoryStore(), code: 'first' });
    this.leaves.set(spec.leaf, { server, deploy: undefined });
    return server;
  }

  /** The names of the mounted server itself, which may have a prefix from an inner mount. */
  #transformOf(of: ServerSpec | MountSpec, change: NonNullable<MountSpec['transform']>): object {
    const view = viewOf({ ...of, search: false }, 'ada', this.changes);
    const guest = viewOf({ ...of, search: false }, 'bob', this.changes);
    const nameOf = (kind: string, local: string): string | undefined =>
      [...view, ...guest].find(({ item }) => item.kind === kind && item.name === local)?.name;
    const one = (kind: string, local: string, what: object): object => {
      const name = nameOf(kind, local);
      return name === undefined ? {} : { [name]: what };
    };
    if (change === 'rename') {
      const name = nameOf('tool', TRANSFORMED.rename);
      return { tools: one('tool', TRANSFORMED.rename, { name: `${name}-new` }) };
    }
    if (change === 'guard')
      return {
        tools: one('tool', TRANSFORMED.guard, {
          allow: (auth: { readonly subject: string } | undefined) => auth?.subject === 'bob',
        }),
      };
    const [tool, prompt] = TRANSFORMED.hide;
    return { tools: one('tool', tool, { hidden: true }), prompts: one('prompt', prompt, { hidden: true }) };
  }

  #gateway(spec: GatewaySpec): Built {
    const { members, hides, pins, identity, search } = spec;
    const inner = members.map(({ name, of }) => ({ name, built: this.#build(of) }));
    const links = inner.map(({ name, built }) => ({ name, ...this.#linkTo(built, spec.link, name) }));
    const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const { host } = new URL(input instanceof Request ? input.url : String(input));
      const link = links.find(({ name }) => `${name.replace('_', '')}.test` === host);
      if (link === undefined) throw new TypeError(`There is no ${host}.`);
      return (link.options as { fetch: typeof globalThis.fetch }).fetch(input, init);
    };
    const gateway = makeGateway({
      runtime: ownRuntime,
      files: memoryFiles(),
      breaker: (options) => circuitBreaker(options),
    });
    const hub = gateway(
      {
        mcpServers: Object.fromEntries(
          links.map(({ name, target }) => [
            name,
            typeof target === 'string' ? { url: target } : { target: target as never },
          ]),
        ),
      },
      {
        ...(spec.link !== 'memory' && { fetch, revision: revisionOf(spec.link) }),
        identity: identity === 'drop' ? 'drop' : (ownIdentity as never),
        ...(hides.length > 0 && {
          allow: (({ name }, caller) => {
            const who = caller?.subject ?? 'nobody';
            return !hides.some((rule) => rule.who === who && name.startsWith(rule.prefix));
          }) satisfies GatewayRule,
        }),
        ...(pins && { pins: { file: 'pins.json' } }),
        use: this.#use(spec),
        search,
        logger: quiet,
        healthMs: 0,
        maxConnections: MAX_CONNECTIONS,
      } as never,
    );
    return {
      dispatch: hub.dispatch,
      close: async () => {
        await hub.close();
        await Promise.all(inner.map(({ built }) => built.close()));
      },
    };
  }

  #linkTo(
    inner: Built,
    link: LinkSpec,
    name = 'inner',
  ): { readonly target: unknown; readonly options: object } {
    if (link === 'memory') return { target: { dispatch: inner.dispatch }, options: {} };
    const handler = createHandler(
      { dispatch: inner.dispatch, provideSecret: () => undefined, logger: quiet } as never,
      { auth: callerOf, allowedHosts: [`${name.replace('_', '')}.test`] },
    );
    this.#ends.push(() => handler.close({ deadlineMs: 0 }));
    const options = { fetch: memoryFetch((request) => handler(request)), revision: revisionOf(link) };
    return { target: `http://${name.replace('_', '')}.test/mcp`, options };
  }

  #use(spec: LayerSpec): readonly Middleware[] {
    return spec.use.flatMap((part) => this.#part(part, spec));
  }

  #part(part: Part, spec: LayerSpec): readonly Middleware[] {
    switch (part.part) {
      case 'cache': {
        const isPublic = part.scope === 'public' && isSameBehind(spec);
        const names = part.tools ? this.#keptTools(spec, isPublic) : undefined;
        return [
          cache({
            ttlMs: 60_000,
            cacheScope: isPublic ? 'public' : 'private',
            ...(names && { tools: names }),
          }),
        ];
      }
      case 'rateLimit':
        return [
          rateLimit({
            tools: { limit: part.limit, perMs: 36_000_000 },
            by: part.by,
            maxKeys: 50,
          }),
          this.#countingProbe(part.by, part.limit),
        ];
      case 'concurrency':
        return [
          concurrency({ limit: part.limit, by: part.by, queue: 1000 }),
          this.#concurrencyProbe(part.by, part.limit),
        ];
      case 'outputBudget':
        return [outputBudget({ maxChars: 2000, headChars: 200, pageChars: 2000 })];
      case 'audit':
        return this.#audit();
      case 'retry':
        return [retry({ maxRetries: 2 })];
      case 'recorder':
        return [recorder()];
      case 'logging':
        return [logging({ payloads: true, log: () => undefined })];
      case 'sizeLimit':
        return [sizeLimit({ maxParamsChars: 1_000_000, maxResultChars: 1_000_000 })];
      case 'breaker':
        return [circuitBreaker({ failures: 50, by: 'tool' })];
      default:
        return part satisfies never;
    }
  }

  /** The names, at this layer, of tools whose results may be kept. */
  #keptTools(spec: LayerSpec, isPublic: boolean): readonly string[] {
    const local = isPublic ? ['public', 'echo'] : ['public', 'echo', 'mine', 'vault'];
    const names = everyone.flatMap((who) =>
      viewOf({ ...spec, search: false } as LayerSpec, who, this.changes)
        .filter(({ item }) => item.kind === 'tool' && local.includes(item.name))
        .map(({ name }) => name),
    );
    return [...new Set(names)];
  }

  #countingProbe(by: 'caller' | 'tool', limit: number): Middleware {
    const counts = new Map<string, number>();
    return async (call, next) => {
      if (call.method !== 'tools/call') return next(call);
      const group = by === 'caller' ? (call.auth?.subject ?? 'nobody') : String(call.params['name']);
      const count = (counts.get(group) ?? 0) + 1;
      if (group.length < 100) counts.set(group, count);
      if (count > limit)
        this.broken.push(`rateLimit of ${limit} by ${by} let ${count} calls of "${group}" pass`);
      return next(call);
    };
  }

  #concurrencyProbe(by: 'caller' | 'tool' | 'everyone', limit: number): Middleware {
    const running = new Map<string, number>();
    return async (call, next) => {
      if (call.method !== 'tools/call') return next(call);
      const group =
        by === 'everyone'
          ? ''
          : by === 'caller'
            ? (call.auth?.subject ?? 'nobody')
            : String(call.params['name']);
      const count = (running.get(group) ?? 0) + 1;
      running.set(group, count);
      if (count > limit)
        this.broken.push(`concurrency of ${limit} by ${by} ran ${count} calls of "${group}"`);
      try {
        return await next(call);
      } finally {
        if (count === 1) running.delete(group);
        else running.set(group, (running.get(group) ?? 1) - 1);
      }
    };
  }

  /** Every call that passes has exactly one entry when it has ended. */
  #audit(): readonly Middleware[] {
    let [entries, calls] = [0, 0];
    const isCounted = (method: unknown): boolean => method === 'tools/call' || method === 'resources/read';
    this.#atEnd.push(() => {
      if (entries !== calls) this.broken.push(`audit has ${entries} entries of ${calls} calls`);
    });
    return [
      async (call, next) => {
        try {
          return await next(call);
        } finally {
          if (isCounted(call.method)) calls++;
        }
      },
      audit({
        to: (written: unknown) => {
          for (const entry of [written].flat() as unknown as { readonly method?: string }[])
            if (isCounted(entry.method)) entries++;
        },
      } as never),
    ];
  }
}

/** Whether all callers are the same for everything behind the rules of this layer. */
function isSameBehind(spec: LayerSpec): boolean {
  return spec.kind === 'server' || spec.kind === 'mount' || spec.identity === 'drop';
}

function ownIdentity({ auth }: { readonly auth?: { readonly subject: string } }): object | undefined {
  if (auth === undefined) return undefined;
  return { key: auth.subject, headers: { authorization: `Bearer ${auth.subject}` }, caller: auth };
}

function callerOf(request: Request): { readonly subject: string } | undefined {
  const subject = request.headers.get('authorization')?.slice('Bearer '.length) as Who | undefined;
  return subject === undefined ? undefined : { subject };
}

const revisionOf = (link: Exclude<LinkSpec, 'memory'>): string =>
  link === '2025' ? '2025-11-25' : '2026-07-28';
const quiet = (): void => undefined;

/** The files of a gateway, in memory. */
function memoryFiles() {
  const files = new Map<string, string>();
  return {
    read: async (path: string) => files.get(path),
    write: async (path: string, text: string) => void files.set(path, text),
    version: async (path: string) => files.get(path),
  };
}
