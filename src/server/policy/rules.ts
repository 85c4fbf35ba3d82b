// The rules of a policy: how they are written, and when they apply.

import type { Auth } from '../../protocol/call.js';
import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { PolicyTool, ToolUse } from '../../protocol/tool-use.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { PolicyEffect } from '../define/policy.js';
import { annotationRow, type ToolAnnotations } from '../define/tool.js';
import type { Awaitable } from '../define/tool-handler.js';
import { isPattern, matchesPattern } from './patterns.js';

/** The arguments of a call, as the handler gets them. */
export type PolicyInput = Readonly<Record<string, unknown>>;

/**
 * The callers that a rule applies to: those that are logged in, those that are not, local ones (stdio, in-process), or those for which a
 * function returns true. A local caller is not `anonymous`.
 */
type PolicyCaller =
  | 'authenticated'
  | 'anonymous'
  | 'local'
  | ((auth: Auth | undefined, use: ToolUse) => Awaitable<boolean>);

/** A rule of a policy. It applies to a call if all its conditions hold; without conditions, to every call of every tool. */
export interface PolicyRule {
  /** The decision about the calls that the rule applies to. `approve`: a person has to approve each of them. */
  readonly effect: PolicyEffect;
  /** The names of the tools; `*` stands for any characters. Each must match a tool that the server is created with. Default: all. */
  readonly tools?: string | readonly string[] | undefined;
  /** The tags of the tools: one of them is enough. Default: any. */
  readonly tags?: string | readonly string[] | undefined;
  /** The hints of the tools: all of them must be equal. A tool without hints is destructive and reaches the outside world. Default: any. */
  readonly annotations?: ToolAnnotations | undefined;
  /** The callers. Default: all, local ones included. */
  readonly caller?: PolicyCaller | undefined;
  /**
   * Whether the rule applies to these arguments. Called again in each round of a call that asks, so it must always decide the same.
   * Default: it applies to any.
   */
  input?(input: PolicyInput, use: ToolUse): Awaitable<boolean>;
  /** For `approve`: the reason that the person is shown, with the tool and its arguments. Default: none. */
  question?: string | ((input: PolicyInput, use: ToolUse) => string);
}

const ruleTable = {
  effect: { oneOf: ['allow', 'deny', 'approve'], required: true },
  tools: ['string', 'strings'],
  tags: ['string', 'strings'],
  annotations: annotationRow,
  caller: { is: 'function', oneOf: ['authenticated', 'anonymous', 'local'] },
  input: 'function',
  question: ['string', 'function'],
} as const satisfies OptionTable<PolicyRule>;
const foreign = {
  tool: 'tools',
  tag: 'tags',
  arguments: 'input',
  args: 'input',
  when: 'input',
  message: 'question',
};

/** A rule, checked. */
export interface ReadRule {
  readonly effect: PolicyEffect;
  /** The path of the rule, for messages. */
  readonly path: string;
  readonly tools: readonly string[] | undefined;
  readonly tags: readonly string[] | undefined;
  readonly appliesTo: (tool: PolicyTool) => boolean;
  readonly caller: (use: ToolUse) => boolean | Promise<boolean>;
  /** Undefined if the rule applies to all arguments. */
  readonly input: ((use: ToolUse) => boolean | Promise<boolean>) | undefined;
  readonly question: PolicyRule['question'];
}

/** Reads the rules of a policy. Throws a TypeError that describes a mistake. */
export function readRules(rules: readonly PolicyRule[]): readonly ReadRule[] {
  return rules.map((rule, at) => readRule(rule, `policy: rules[${at}]`));
}

function readRule(rule: PolicyRule, path: string): ReadRule {
  const { effect, annotations = {}, caller, input, question } = readOptions(path, rule, ruleTable, foreign);
  const tools = readNames(`${path}.tools`, rule.tools);
  const tags = readNames(`${path}.tags`, rule.tags);
  const wanted = Object.entries(annotations) as [keyof ToolAnnotations, boolean][];
  if (question !== undefined && effect !== 'approve')
    throw new TypeError(`${path}.question needs the effect "approve".`);
  return {
    effect,
    path,
    tools,
    tags,
    question,
    appliesTo: (tool) =>
      (tools === undefined || tools.some((pattern) => matchesPattern(pattern, tool.name))) &&
      (tags === undefined || tags.some((tag) => tool.tags.includes(tag))) &&
      wanted.every(([name, value]) => tool[name] === value),
    caller: readCaller(`${path}.caller`, caller),
    input: input && ((use) => isTrue(`${path}.input`, input.call(rule, use.input as PolicyInput, use))),
  };
}

function readNames(
  path: string,
  names: string | readonly string[] | undefined,
): readonly string[] | undefined {
  if (names === undefined) return undefined;
  const all = typeof names === 'string' ? [names] : names;
  // An empty array would be a rule for nothing.
  if (all.length > 0 && !all.includes('')) return all;
  throw new TypeError(`${path} must be a string or an array of strings, and not empty.`);
}

function readCaller(path: string, caller: PolicyCaller | undefined): ReadRule['caller'] {
  if (typeof caller === 'function') return (use) => isTrue(path, caller(use.auth, use));
  switch (caller) {
    case undefined:
      return () => true;
    case 'authenticated':
      return ({ auth }) => auth !== undefined;
    case 'anonymous':
      return ({ auth, isLocal }) => auth === undefined && !isLocal;
    case 'local':
      return ({ isLocal }) => isLocal;
  }
}

// A condition that forgets to return a value must not decide. The error denies the call.
function isTrue(path: string, answer: Awaitable<boolean>): boolean | Promise<boolean> {
  const check = (value: unknown): boolean => {
    if (typeof value === 'boolean') return value;
    throw new TypeError(
      `${path} returned a value of type ${value === null ? 'null' : typeof value}. Return true or false.`,
    );
  };
  return typeof answer === 'boolean' ? answer : Promise.resolve(answer).then(check);
}

/** The mistakes in rules that only the tools of a server show: a name that no tool has would protect nothing. */
export function ruleProblems(rules: readonly ReadRule[], tools: readonly PolicyTool[]): readonly string[] {
  const names = tools.map(({ name }) => name);
  const tags = [...new Set(tools.flatMap((tool) => tool.tags))];
  return rules.flatMap((rule) => [
    ...(rule.tools ?? [])
      .filter((pattern) => pattern !== '*' && !names.some((name) => matchesPattern(pattern, name)))
      .map((pattern) => {
        const closest = isPattern(pattern) ? undefined : closestName(pattern, names);
        const hint =
          closest === undefined
            ? 'Tools that are added later need a rule with tags or annotations.'
            : `Did you mean "${closest}"?`;
        return `${rule.path}.tools has "${pattern}", and no tool has such a name. ${hint}`;
      }),
    // A tag may come with a tool that is added later.
    ...(rule.tags ?? []).flatMap((tag) => {
      const closest = tags.includes(tag) ? undefined : closestName(tag, tags);
      return closest === undefined
        ? []
        : `${rule.path}.tags has "${tag}", and no tool has that tag. Did you mean "${closest}"?`;
    }),
  ]);
}
