// Compiles the rules that apply to a definition: the server's, those of its tags, and its own.

import { isObject } from '../../jsonrpc/message.js';
import { type KeysOf, unknownKeys } from '../../protocol/checks/known-keys.js';
import type { PolicyTool } from '../../protocol/tool-use.js';
import { closestName } from '../../schema/explain/closest-name.js';
import type { AccessOptions, AccessRule, AccessTarget, Allow } from '../define/access.js';
import { foreignRuleNames } from '../define/definition-tables.js';
import type { ToolPolicy } from '../define/policy.js';
import type { ToolAnnotations } from '../define/tool.js';
import type { Logger } from '../state/log.js';
import { AllowFailures } from './allow-failures.js';

/** All rules that apply to a definition, as one. */
export interface CompiledAccess {
  readonly target: AccessTarget;
  readonly scopes: readonly string[];
  /** The functions that must all allow a caller, those of the server first. */
  readonly allow: readonly Allow[];
  /** The policy for a tool, which applies to every caller. */
  readonly policy: ToolPolicy | undefined;
}

/** The options of a definition that its rules follow from. */
export interface GuardedOptions extends AccessRule<never> {
  readonly tags?: readonly string[];
  readonly annotations?: ToolAnnotations;
}

/** The rules of a server, checked. */
export interface ServerAccess {
  /** The rules of a definition, or undefined if every caller may use it. Throws a TypeError that describes a mistake. */
  readonly of: (target: AccessTarget, options: GuardedOptions) => CompiledAccess | undefined;
  /** The mistakes in the rules, one sentence each. */
  readonly problems: readonly string[];
  /** The mistakes in the tags that have a rule, given the tags that definitions have. */
  readonly tagProblems: (used: ReadonlySet<string>) => readonly string[];
  /** The mistakes in the policy, given the rules of all tools. */
  readonly policyProblems: (tools: Iterable<CompiledAccess | undefined>) => readonly string[];
}

const ruleKeys = { scopes: true, allow: true } satisfies KeysOf<AccessRule>;

/** Reads the rules of a server. */
export function readServerAccess(access: AccessOptions | undefined, log: Logger): ServerAccess {
  const problems: string[] = [];
  const failures = new AllowFailures(log, 'The policy');
  const tags = new Map<string, AccessRule>();
  const report = (path: string, value: unknown): AccessRule => {
    const problem = isObject(value) ? ruleProblem(value) : 'it must be an object: { scopes: ["files:read"] }';
    if (problem === undefined) return value as AccessRule;
    problems.push(`"${path}": ${problem}`);
    return {};
  };
  const own = access === undefined ? {} : report('access', access);
  const { tags: rules = {}, policy: given } = own as {
    readonly tags?: unknown;
    readonly policy?: AccessOptions['policy'];
  };
  const policy = typeof given?.forTool === 'function' ? given : undefined;
  if (given !== policy)
    problems.push('"access.policy" must be made with policy({ default, rules }) of fullmcp/middleware');
  if (!isObject(rules)) problems.push('"access.tags" must be an object: { admin: { scopes: ["admin"] } }');
  else {
    for (const [tag, rule] of Object.entries(rules)) {
      const path = `access.tags.${tag}`;
      if (isObject(rule))
        for (const { key, hint } of unknownKeys(rule, ruleKeys, foreignRuleNames))
          problems.push(`"${path}.${key}" is unknown. ${hint}`);
      tags.set(tag, report(path, rule));
    }
  }
  return {
    problems,
    // A rule for a tag that is added later is not a mistake; one for a misspelled tag would protect nothing.
    tagProblems: (used) =>
      [...tags.keys()].flatMap((tag) => {
        const closest = used.has(tag) ? undefined : closestName(tag, [...used]);
        if (closest === undefined || tags.has(closest)) return [];
        return `"access.tags.${tag}" is for a tag that no definition has. Did you mean "${closest}"?`;
      }),
    of(target, options) {
      const problem = ruleProblem(options) ?? tagsProblem(options.tags);
      if (problem !== undefined) throw new TypeError(problem);
      for (const tag of options.tags ?? []) warnOfTag(target, tag);
      const tagRules = [...new Set(options.tags)].map((tag) => tags.get(tag) ?? {});
      const toolPolicy =
        target.kind === 'tool'
          ? policy?.forTool(policyTool(target.name, options), (error) => failures.threw(target, error))
          : undefined;
      return combine(target, [own, ...tagRules, options as AccessRule], toolPolicy);
    },
    policyProblems: (tools) => policy?.problems([...tools].flatMap((tool) => tool?.policy?.tool ?? [])) ?? [],
  };

  function warnOfTag({ kind, name }: AccessTarget, tag: string): void {
    const closest = tags.has(tag) ? undefined : closestName(tag, [...tags.keys()]);
    if (closest !== undefined)
      log(
        'warning',
        `${kind} "${name}": the tag "${tag}" has no rule in "access.tags", but the similar tag "${closest}" has one`,
      );
  }
}

function combine(
  target: AccessTarget,
  rules: readonly AccessRule[],
  policy: ToolPolicy | undefined,
): CompiledAccess | undefined {
  const scopes = [...new Set(rules.flatMap((rule) => rule.scopes ?? []))];
  const allow = rules.flatMap((rule) => (rule.allow === undefined ? [] : [rule.allow]));
  const isOpen = scopes.length === 0 && allow.length === 0 && policy === undefined;
  return isOpen ? undefined : { target, scopes, allow, policy };
}

/** A tool as rules about tools see it. One that says nothing about itself may do anything: these are the defaults of the protocol. */
export function policyTool(name: string, { tags = [], annotations = {} }: GuardedOptions): PolicyTool {
  const { readOnly = false, destructive = true, idempotent = readOnly, openWorld = true } = annotations;
  return { name, tags, readOnly, destructive: destructive && !readOnly, idempotent, openWorld };
}

// RFC 6749, section 3.3. A space would make one scope of two that no token ever has.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function ruleProblem({
  scopes,
  allow,
}: {
  readonly scopes?: unknown;
  readonly allow?: unknown;
}): string | undefined {
  if (scopes !== undefined) {
    if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === 'string'))
      return '"scopes" must be an array of strings, such as ["files:read"]';
    const wrong: string | undefined = scopes.find((scope) => !SCOPE.test(scope));
    if (wrong !== undefined)
      return `"scopes" has ${JSON.stringify(wrong)}, which is not a scope: a scope has no spaces, quotes or backslashes and is not empty. Write each scope as a string of its own.`;
    if (scopes.includes('offline_access'))
      return '"scopes" has "offline_access", which asks for a refresh token and permits nothing. Remove it.';
  }
  if (allow !== undefined && typeof allow !== 'function')
    return '"allow" must be a function: (auth, input) => true';
  return undefined;
}

function tagsProblem(tags: unknown): string | undefined {
  if (tags === undefined || (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')))
    return undefined;
  return '"tags" must be an array of strings, such as ["admin"]';
}
