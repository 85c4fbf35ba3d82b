// Random policies as data, what they promise, and a server that has one.

import fc from 'fast-check';
import { createServer, tool } from 'fullmcp';
import { type PolicyRule, policy } from 'fullmcp/middleware';
import { z } from 'zod';

/** A rule as data, so that a test can decide without the server. */
interface RandomPolicyRule {
  readonly effect: 'allow' | 'deny' | 'approve';
  readonly tools: readonly string[] | undefined;
  readonly tags: readonly string[] | undefined;
  readonly annotations: { readonly readOnly?: boolean; readonly destructive?: boolean } | undefined;
  readonly caller:
    | 'authenticated'
    | 'anonymous'
    | 'local'
    | { readonly subjects: readonly string[] }
    | undefined;
  /** The numbers that the rule applies to; undefined if it applies to all. */
  readonly numbers: readonly number[] | undefined;
  readonly isAsync: boolean;
}

/** A policy as data. */
export interface RandomPolicy {
  readonly default: 'allow' | 'deny' | 'approve';
  readonly rules: readonly RandomPolicyRule[];
}

/** A caller as data. */
export type PolicyCallerKind = 'local' | 'anonymous' | { readonly subject: string };

interface Facts {
  readonly tags: readonly string[];
  readonly readOnly: boolean;
  readonly destructive: boolean;
}

/** The tools, with the facts that the rules see. */
export const tools: Readonly<Record<string, Facts>> = {
  user_find: { tags: [], readOnly: true, destructive: false },
  user_delete: { tags: ['users'], readOnly: false, destructive: true },
  job: { tags: ['jobs'], readOnly: false, destructive: false },
  keep: { tags: ['users', 'jobs'], readOnly: false, destructive: true },
  outer: { tags: [], readOnly: false, destructive: true },
};

const effect = fc.constantFrom('allow' as const, 'deny' as const, 'approve' as const);
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });

const rule: fc.Arbitrary<RandomPolicyRule> = fc.record({
  effect,
  tools: optional(
    fc.subarray(['user_*', '*', '*e*', 'o*r', ...Object.keys(tools)], { minLength: 1, maxLength: 3 }),
  ),
  tags: optional(fc.subarray(['users', 'jobs', 'later'], { minLength: 1 })),
  annotations: optional(
    fc.constantFrom({ readOnly: true }, { destructive: true }, { destructive: false, readOnly: false }),
  ),
  caller: optional(
    fc.constantFrom('authenticated' as const, 'anonymous' as const, 'local' as const, { subjects: ['ann'] }),
  ),
  numbers: optional(fc.subarray([0, 1])),
  isAsync: fc.boolean(),
});

/** Random policies. */
export const policies: fc.Arbitrary<RandomPolicy> = fc.record({
  default: effect,
  rules: fc.array(rule, { maxLength: 5 }),
});

const fits = (pattern: string, name: string): boolean =>
  new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);

function appliesTo(one: RandomPolicyRule, caller: PolicyCallerKind, name: string): boolean {
  const facts = tools[name] as Facts;
  const isCaller =
    one.caller === undefined ||
    (typeof one.caller === 'object'
      ? typeof caller === 'object' && one.caller.subjects.includes(caller.subject)
      : one.caller === (typeof caller === 'object' ? 'authenticated' : caller));
  return (
    isCaller &&
    one.tools?.some((pattern) => fits(pattern, name)) !== false &&
    one.tags?.some((tag) => facts.tags.includes(tag)) !== false &&
    Object.entries(one.annotations ?? {}).every(([hint, value]) => facts[hint as 'readOnly'] === value)
  );
}

/** The decision that the documentation promises. */
export function expectedEffect(
  random: RandomPolicy,
  caller: PolicyCallerKind,
  name: string,
  n: number,
): 'allow' | 'deny' | 'approve' | 'unknown' {
  const effectFor = (number: number): 'allow' | 'deny' | 'approve' => {
    const effects = random.rules
      .filter((one) => appliesTo(one, caller, name) && one.numbers?.includes(number) !== false)
      .map((one) => one.effect);
    return (['deny', 'approve', 'allow'] as const).find((one) => effects.includes(one)) ?? random.default;
  };
  const applied = random.rules.filter((one) => appliesTo(one, caller, name));
  const always = applied.filter(({ numbers }) => numbers === undefined).map((one) => one.effect);
  const sometimes = applied.map((one) => one.effect);
  const isHidden =
    always.includes('deny') ||
    (always.length === 0 && random.default === 'deny' && sometimes.every((one) => one === 'deny'));
  return isHidden ? 'unknown' : effectFor(n);
}

function toRule({ caller, numbers, isAsync, ...data }: RandomPolicyRule): PolicyRule {
  const later = <T>(value: T): T | Promise<T> => (isAsync ? Promise.resolve(value) : value);
  return {
    ...data,
    ...(numbers && { input: ({ n }: { n: number }) => later(numbers.includes(n)) }),
    caller:
      typeof caller === 'object' ? (auth) => later(caller.subjects.includes(auth?.subject ?? '')) : caller,
  };
}

/** Makes a server with this policy. Each tool writes its name and number to `ran`. */
export function makeServer(random: RandomPolicy, ran: string[]) {
  const input = z.object({ n: z.number() });
  const optionsOf = (name: string): object => {
    const { tags, readOnly, destructive } = tools[name] as Facts;
    return { tags, annotations: { readOnly, destructive }, input };
  };
  const run = (name: string) => (args: { n: number }) => {
    ran.push(`${name} ${args.n}`);
    return `ran ${name}`;
  };
  return createServer({
    name: 'random',
    version: '1.0.0',
    secret: 'x'.repeat(32),
    logger: () => undefined,
    access: policy({ default: random.default, rules: random.rules.map(toRule) }),
    tools: {
      user_find: tool({ ...optionsOf('user_find'), run: run('user_find') } as never),
      user_delete: tool({ ...optionsOf('user_delete'), run: run('user_delete') } as never),
      job: tool({ ...optionsOf('job'), task: 'optional', run: run('job') } as never),
      keep: tool({ ...optionsOf('keep'), idempotency: true, run: run('keep') } as never),
      outer: tool({
        ...optionsOf('outer'),
        input: z.object({ n: z.number(), tool: z.string() }),
        run: async ({ n, tool: name }: { n: number; tool: string }, ctx: { call: never }) => {
          const result = await (ctx.call as (name: string, args: object) => Promise<object>)(name, { n });
          return JSON.stringify(result);
        },
      } as never),
    },
  } as never);
}
