// The server that every stack is built around: one definition for each thing that a part of a stack could spoil.

import {
  createServer,
  type Middleware,
  prompt,
  resource,
  type Server,
  stored,
  ToolError,
  tool,
} from 'fullmcp';

/** The callers of a stack. */
export type Who = 'ada' | 'bob' | 'nobody';
export const everyone: readonly Who[] = ['ada', 'bob', 'nobody'];

export type Kind = 'tool' | 'prompt' | 'resource' | 'template';

/** A definition of a reference server. */
export interface Item {
  readonly leaf: string;
  readonly kind: Kind;
  /** The name that the server itself uses. */
  readonly name: string;
  /** The only caller that may use it; undefined for everyone. */
  readonly only?: Who | undefined;
  /** Whether the result depends on the caller. */
  readonly isPersonal?: boolean;
  /** Whether it says that it only reads. */
  readonly isReadOnly?: boolean;
}

/** The effects behind the stack: nobody but the reference servers writes here. */
export class Ledger {
  /** Each effect, with the argument that the caller chose. */
  readonly effects: string[] = [];
  /** The effects of the steps of `book`, by the code that ran them. */
  readonly steps: string[] = [];

  count(effect: string): number {
    return this.effects.filter((each) => each === effect).length;
  }
}

/** The code of the tool `book`, which a deployment replaces while a call waits for an answer. */
export type BookCode = 'first' | 'removed' | 'added' | 'renamed' | 'reordered';

const text = (properties: readonly string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(properties.map((name) => [name, { type: 'string' as const }])),
  required: [...properties],
});
const ECHO = text(['text']);
const PAY = text(['invoice']);
const NAME = text(['name']);
const LINK = text(['url']);

// A server of fullmcp does not ask for addresses that are not of the web. This one does, as those of others may.
const DISGUISE = 'https://disguised.example/?';
const disguised = (url: string): string => DISGUISE + encodeURIComponent(url);
const undisguised: Middleware = async (call, next) => {
  const outcome = await next(call);
  if (outcome['resultType'] !== 'input_required') return outcome;
  return JSON.parse(JSON.stringify(outcome), (_, value) =>
    typeof value === 'string' && value.startsWith(DISGUISE)
      ? decodeURIComponent(value.slice(DISGUISE.length))
      : value,
  );
};
const PROMPT = text(['topic']);
const COMPLETE = { topic: () => ['cats', 'cars'] };
const COMPLETE_ID = { id: () => ['one', 'two'] };
const notes = stored({
  name: 'notes',
  schema: { type: 'object', properties: { all: { type: 'array', items: { type: 'string' } } } } as const,
  initial: { all: [] },
} as never);

/** The result of a definition begins with this, and nothing else contains it. */
export const markOf = (leaf: string, name: string): string => `«${leaf} ${name}»`;
const LONG = 6000;

const readOnly = { annotations: { readOnly: true } };
const onlyAda = { allow: (auth: { readonly subject: string } | undefined) => auth?.subject === 'ada' };

const tools: Readonly<Record<string, Partial<Item>>> = {
  public: { isReadOnly: true },
  mine: { isReadOnly: true, isPersonal: true },
  echo: { isReadOnly: true },
  vault: { isReadOnly: true, only: 'ada' },
  long: { isReadOnly: true, isPersonal: true },
  wipe: {},
  pay: {},
  ask: { isPersonal: true },
  link: {},
  job: { isPersonal: true },
  note: {},
  book: {},
  bank_public: { isReadOnly: true },
};
/** The tools that a reference server may have. Each has `public`. */
export const TOOLS: readonly string[] = Object.keys(tools).slice(1);

/** A reference server as data. */
export interface Leaf {
  readonly leaf: string;
  /** The scheme of its URIs. */
  readonly scheme: string;
  /** The tools that it has, besides `public`. */
  readonly tools: readonly string[];
}

const known = new WeakMap<Leaf, readonly Item[]>();

/** The definitions that a reference server has from the beginning. */
export function itemsOf(spec: Leaf): readonly Item[] {
  const items = known.get(spec) ?? makeItems(spec);
  known.set(spec, items);
  return items;
}

function makeItems({ leaf, scheme, tools: names }: Leaf): readonly Item[] {
  return [
    ...['public', ...names].map((name): Item => ({ leaf, kind: 'tool', name, ...tools[name] })),
    { leaf, kind: 'resource', name: `${scheme}://public` },
    { leaf, kind: 'resource', name: `${scheme}://mine`, isPersonal: true },
    { leaf, kind: 'resource', name: `${scheme}://vault`, only: 'ada' },
    { leaf, kind: 'template', name: `${scheme}-item://{id}` },
    { leaf, kind: 'template', name: `${scheme}-safe://{id}`, only: 'ada' },
    { leaf, kind: 'prompt', name: 'hello' },
    { leaf, kind: 'prompt', name: 'whisper', only: 'ada' },
  ];
}

export interface ReferenceParts {
  readonly spec: Leaf;
  readonly ledger: Ledger;
  readonly options: object;
  readonly code?: BookCode;
}

/** Makes a reference server. */
export function referenceServer({ spec, ledger, options, code = 'first' }: ReferenceParts): Server {
  const { leaf, scheme } = spec;
  const mark = (name: string, ctx?: { readonly auth?: { readonly subject: string } | undefined }): string =>
    `${markOf(leaf, name)}${ctx === undefined ? '' : ` for:${ctx.auth?.subject ?? 'nobody'}`}`;
  const described = (name: string): object => ({ description: `Describes ${markOf(leaf, name)}` });
  const makers: Readonly<Record<string, () => unknown>> = {
    public: () => tool({ ...described('public'), ...readOnly, run: () => mark('public') }),
    mine: () => tool({ ...described('mine'), ...readOnly, run: (_, ctx) => mark('mine', ctx) }),
    echo: () =>
      tool({
        ...described('echo'),
        ...readOnly,
        input: ECHO as never,
        run: ({ text }: { text: string }) => `${mark('echo')} ${text}`,
      } as never),
    vault: () => tool({ ...described('vault'), ...readOnly, ...onlyAda, run: () => mark('vault') }),
    long: () =>
      tool({
        ...described('long'),
        ...readOnly,
        run: (_, ctx) => `${mark('long', ctx)} ${'x'.repeat(LONG)} ${mark('long', ctx)}`,
      }),
    wipe: () =>
      tool({
        ...described('wipe'),
        annotations: { destructive: true },
        run: () => {
          ledger.effects.push(`${leaf} wipe`);
          return mark('wipe');
        },
      }),
    pay: () =>
      tool({
        ...described('pay'),
        idempotency: true,
        input: PAY,
        run: ({ invoice }: { invoice: string }) => {
          ledger.effects.push(`${leaf} pay ${invoice}`);
          return `${mark('pay')} receipt ${ledger.effects.length} of ${invoice}`;
        },
      } as never),
    ask: () =>
      tool({
        ...described('ask'),
        run: async (_, ctx) => {
          const { name } = (await ctx.ask('name', { message: 'Who is it?', schema: NAME as never })) as {
            name: string;
          };
          return `${mark('ask', ctx)} ${name}`;
        },
      }),
    link: () =>
      tool({
        ...described('link'),
        input: LINK,
        run: async (
          { url }: { url: string },
          ctx: { elicit: (key: string, question: object) => unknown },
        ) => {
          await ctx.elicit('visit', { message: 'Open this', url: disguised(url) });
          return mark('link');
        },
      } as never),
    job: () => tool({ ...described('job'), task: 'optional', run: (_, ctx) => mark('job', ctx) }),
    note: () =>
      tool({
        ...described('note'),
        input: ECHO,
        run: async ({ text }: { text: string }, ctx: { store: (of: unknown) => never; auth?: unknown }) => {
          if (ctx.auth === undefined) throw new ToolError(`${mark('note')} log in first`);
          const kept = ctx.store(notes) as {
            update: (change: (value: { all: string[] }) => object) => Promise<{ all: string[] }>;
          };
          const { all } = await kept.update(({ all }) => ({ all: [...all.slice(-20), text] }));
          return `${mark('note')} ${all.join(' ')}`;
        },
      } as never),
    // With the name of a server as a prefix, it has the name of a tool of another server.
    bank_public: () => tool({ ...described('bank_public'), ...readOnly, run: () => mark('bank_public') }),
    book: () => tool({ ...described('book'), run: (_, ctx) => book(ctx as never, { leaf, ledger, code }) }),
  };
  return createServer({
    name: leaf,
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    changes: true,
    ...options,
    use: [...((options as { readonly use?: readonly Middleware[] }).use ?? []), undisguised],
    tools: Object.fromEntries(['public', ...spec.tools].map((name) => [name, makers[name]?.()])),
    resources: {
      [`${scheme}://public`]: resource({
        ttlMs: 60_000,
        cacheScope: 'public',
        read: () => mark(`${scheme}://public`),
      }),
      [`${scheme}://mine`]: resource({
        ttlMs: 60_000,
        read: (_, ctx) => mark(`${scheme}://mine`, ctx),
      }),
      [`${scheme}://vault`]: resource({
        ...onlyAda,
        ttlMs: 60_000,
        read: () => mark(`${scheme}://vault`),
      }),
      [`${scheme}-item://{id}`]: resource({
        ttlMs: 60_000,
        cacheScope: 'public',
        complete: COMPLETE_ID,
        read: () => mark(`${scheme}-item://{id}`),
      }),
      [`${scheme}-safe://{id}`]: resource({
        ...onlyAda,
        ttlMs: 60_000,
        complete: COMPLETE_ID,
        read: () => mark(`${scheme}-safe://{id}`),
      }),
    },
    prompts: {
      hello: prompt({ args: PROMPT, complete: COMPLETE, run: () => mark('hello') } as never),
      whisper: prompt({ args: PROMPT, complete: COMPLETE, ...onlyAda, run: () => mark('whisper') } as never),
    },
  } as never);
}

interface BookContext {
  readonly step: (key: string, work: () => string) => Promise<string>;
  readonly ask: (key: string, question: object) => Promise<{ readonly name: string }>;
}

/** Steps around a question, in several versions of the same code. */
async function book(
  ctx: BookContext,
  { leaf, ledger, code }: { readonly leaf: string; readonly ledger: Ledger; readonly code: BookCode },
): Promise<string> {
  const step = (key: string): Promise<string> =>
    ctx.step(key, () => {
      ledger.steps.push(`${code} ${key}`);
      return key;
    });
  const question = () => ctx.ask('name', { message: 'Who travels?', schema: NAME });
  if (code === 'added') await step('insure');
  if (code !== 'removed') await step(code === 'renamed' ? 'reserve2' : 'reserve');
  if (code === 'reordered') await step('ship');
  await question();
  if (code !== 'reordered') await step('ship');
  return markOf(leaf, 'book');
}

/** Adds a definition to a server that is already served. */
export function addLate(server: Server, { leaf, kind, name }: Item): void {
  const text = (): string => markOf(leaf, name);
  if (kind === 'tool') server.tool(name, { description: `Describes ${text()}`, ...readOnly }, text);
  else if (kind === 'resource') server.resource(name, { ttlMs: 60_000, cacheScope: 'public' }, text as never);
  else server.prompt(name, {}, text);
}
