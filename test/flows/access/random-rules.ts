// Random servers with rules, and what a caller may expect of them.

import fc from 'fast-check';
import { type AccessRule, type Auth, createServer, prompt, resource, tool } from 'fullmcp';
import { z } from 'zod';

/** A rule as data, so that a test can decide without the server. */
export interface RandomRule {
  readonly scopes: readonly string[];
  /** The subjects that `allow` lets in, anonymous callers as `nobody`; undefined without `allow`. */
  readonly subjects: readonly string[] | undefined;
  /** The subjects that `allow` lets in with an input; undefined if the input does not matter. */
  readonly withInput: readonly string[] | undefined;
  readonly isAsync: boolean;
  readonly throws: boolean;
}

/** The rules of a server as data. */
export interface RandomRules {
  readonly server: RandomRule;
  readonly tag: RandomRule;
  readonly components: readonly { readonly rule: RandomRule; readonly isTagged: boolean }[];
}

/** A caller as data; undefined for an anonymous one. */
export type RandomCaller = { readonly subject: string; readonly scopes: readonly string[] } | undefined;

/** The names of the components, each with a rule of its own. */
export const guarded = {
  tools: ['user_find', 'user_delete', 'user_deleted', 'job'],
  prompts: ['review', 'reviews'],
  resources: ['doc://one', 'doc://two', 'doc://three'],
  templates: ['tpl://a/{id}', 'tpl://b/{id}'],
} as const;

type Kind = keyof typeof guarded;
/** The URI that reads a template. */
export const uriOf = (template: string): string => template.replace('{id}', 'one');

const SCOPES = ['a', 'b', 'c'];
const SUBJECTS = ['ann', 'bob', 'nobody'];

const rule: fc.Arbitrary<RandomRule> = fc.record({
  scopes: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.subarray(SCOPES, { maxLength: 2 })),
  subjects: fc.option(fc.subarray(SUBJECTS, { minLength: 1 }), { nil: undefined, freq: 3 }),
  withInput: fc.option(fc.subarray(SUBJECTS, { minLength: 1 }), { nil: undefined, freq: 3 }),
  isAsync: fc.boolean(),
  throws: fc.boolean(),
});
const none: RandomRule = {
  scopes: [],
  subjects: undefined,
  withInput: undefined,
  isAsync: false,
  throws: false,
};
const size = Object.values(guarded).flat().length;

/** Random rules. Those of the server are often empty, because they hide everything. */
export const rules: fc.Arbitrary<RandomRules> = fc.record({
  server: fc.oneof({ weight: 3, arbitrary: fc.constant(none) }, rule),
  tag: rule,
  components: fc.array(fc.record({ rule, isTagged: fc.boolean() }), { minLength: size, maxLength: size }),
});

/** Random callers that are identified. */
export const callers: fc.Arbitrary<RandomCaller> = fc.record({
  subject: fc.constantFrom('ann', 'bob'),
  scopes: fc.subarray(SCOPES),
});

/** The decision that the documentation promises for a caller. `local` callers are trusted. */
export function expected(
  { server, tag, components }: RandomRules,
  caller: RandomCaller | 'local',
  index: number,
  phase: 'list' | 'use',
): 'allowed' | 'unknown' | readonly string[] {
  if (caller === 'local') return 'allowed';
  const { rule: own, isTagged } = components[index] as RandomRules['components'][number];
  const all = [server, own, ...(isTagged ? [tag] : [])];
  const subject = caller?.subject ?? 'nobody';
  const refuses = ({ subjects, withInput }: RandomRule): boolean =>
    subjects?.includes(subject) === false ||
    (phase === 'use' && subjects !== undefined && withInput?.includes(subject) === false);
  if (all.some(({ subjects }) => subjects?.includes(subject) === false)) return 'unknown';
  const missing = new Set(
    all.flatMap(({ scopes }) => scopes).filter((scope) => !caller?.scopes.includes(scope)),
  );
  if (missing.size > 0) return [...missing];
  return all.some(refuses) ? 'unknown' : 'allowed';
}

/** The index of the rule of a component. */
export function indexOf(kind: Kind, name: string): number {
  let first = 0;
  for (const [other, names] of Object.entries(guarded)) {
    if (other === kind) return first + (names as readonly string[]).indexOf(name);
    first += names.length;
  }
  throw new Error(`no ${kind}`);
}

function toRule({ scopes, subjects, withInput, isAsync, throws }: RandomRule): AccessRule<never> {
  const decide = (auth: Auth | undefined, input: unknown): boolean => {
    const subject = auth?.subject ?? 'nobody';
    const isAllowed =
      subjects?.includes(subject) && (input === undefined || withInput?.includes(subject) !== false);
    if (!isAllowed && throws) throw new Error('no');
    return isAllowed === true;
  };
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(subjects && {
      allow: isAsync ? async (auth, input) => decide(auth, input) : (auth, input) => decide(auth, input),
    }),
  };
}

/**
 * Makes a server with these rules. With `only`, it has no rules, and of the guarded components only those: it is what a caller that may
 * use those should see.
 */
export function makeServer(random: RandomRules, only?: (kind: Kind, name: string) => boolean) {
  const optionsOf = (kind: Kind, name: string): object => {
    const { rule: own, isTagged } = random.components[
      indexOf(kind, name)
    ] as RandomRules['components'][number];
    const tags = isTagged ? { tags: ['tagged'] } : {};
    return only === undefined ? { ...toRule(own), ...tags } : tags;
  };
  const define = (kind: Kind, make: (options: object, name: string) => object): object =>
    Object.fromEntries(
      guarded[kind]
        .filter((name) => only?.(kind, name) !== false)
        .map((name) => [name, make(optionsOf(kind, name), name)]),
    );
  const complete = { complete: { id: () => ['one'] } };
  return createServer({
    name: 'random',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    pageSize: 2,
    changes: true,
    ...(only === undefined && { access: { ...toRule(random.server), tags: { tagged: toRule(random.tag) } } }),
    tools: {
      ...define('tools', (options, name) =>
        tool({ ...options, ...(name === 'job' && { task: 'optional' }), run: () => `ran ${name}` } as never),
      ),
      ...(!isOpen(random.server)
        ? {}
        : {
            nested: tool({
              input: z.object({ tool: z.string().optional(), uri: z.string().optional() }),
              run: async (input, ctx) => {
                const work = input.tool === undefined ? ctx.read(input.uri ?? '') : ctx.call(input.tool);
                return work.then(
                  () => 'served',
                  (error) => error.message,
                );
              },
            }),
          }),
    },
    prompts: define('prompts', (options, name) =>
      prompt({
        ...options,
        args: z.object({ id: z.string() }),
        ...complete,
        run: () => `got ${name}`,
      } as never),
    ),
    resources: {
      ...define('resources', (options, name) =>
        resource({ ...options, read: () => `read ${name}` } as never),
      ),
      ...define('templates', (options, name) =>
        resource({ ...options, ...complete, list: () => [uriOf(name)], read: () => `read ${name}` } as never),
      ),
    },
  } as never);
}

/** Whether a rule of the server hides nothing. */
export function isOpen({ scopes, subjects }: RandomRule): boolean {
  return scopes.length === 0 && subjects === undefined;
}
