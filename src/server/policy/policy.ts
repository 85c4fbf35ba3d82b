// Policies: rules that allow or deny the calls of tools, or make a person approve them.

import { type OptionTable, readOptions } from '../../protocol/checks/options.js';
import type { PolicyTool, ToolUse } from '../../protocol/tool-use.js';
import type { AccessOptions } from '../define/access.js';
import type { PolicyEffect } from '../define/policy.js';
import type { Awaitable } from '../define/tool-handler.js';
import { approvalText } from './approval-text.js';
import { type PolicyRule, type ReadRule, readRules, ruleProblems } from './rules.js';
import { type PolicyDecision, toolPolicy } from './tool-policy.js';

/** The options of `policy`. */
export interface PolicyOptions {
  /** The decision about calls that no rule applies to: `deny` for a server that allows only what its rules name. */
  readonly default: PolicyEffect;
  /** The rules, in any order. If several apply to a call, the strictest decides: `deny`, then `approve`, then `allow`. */
  readonly rules?: readonly PolicyRule[] | undefined;
}

const optionTable = {
  default: { oneOf: ['allow', 'deny', 'approve'], required: true },
  rules: 'array',
} as const satisfies OptionTable<PolicyOptions>;

/** The strictest first. */
const ORDER: readonly PolicyEffect[] = ['deny', 'approve', 'allow'];

/**
 * Makes a policy for the tools of a server: `createServer({ access: policy({ default: 'deny', rules: [ … ] }) })`. Every call of a tool
 * passes it, over every transport, also in tasks and from other handlers.
 *
 * @example
 * access: policy({
 *   default: 'deny',
 *   rules: [
 *     { effect: 'allow', annotations: { readOnly: true } },
 *     { effect: 'approve', tools: ['transfer', 'delete_*'], caller: 'authenticated' },
 *   ],
 * })
 */
export function policy(options: PolicyOptions): Required<Pick<AccessOptions, 'policy'>> {
  const { default: otherwise, rules: given = [] } = readOptions('policy', options, optionTable, {
    otherwise: 'default',
    fallback: 'default',
  });
  const rules = readRules(given);
  function decide(use: ToolUse, applied: readonly ReadRule[]): Awaitable<PolicyDecision> {
    const matched = matches(use, applied);
    return matched instanceof Promise ? matched.then(conclude) : conclude(matched);

    function conclude(all: readonly Match[]): PolicyDecision {
      const certain = all.filter(({ isCertain }) => isCertain).map(({ rule }) => rule);
      const effect = ORDER.find((one) => certain.some((rule) => rule.effect === one));
      if (use.input === undefined) return { effect: mayUse(effect, all) ? 'allow' : 'deny' };
      const final = effect ?? otherwise;
      return final === 'approve'
        ? { effect: final, question: (sent) => approvalText(use, sent, certain) }
        : { effect: final };
    }
  }

  // Some arguments may be allowed even if others are not.
  function mayUse(effect: PolicyEffect | undefined, all: readonly Match[]): boolean {
    if (effect !== undefined) return effect !== 'deny';
    return otherwise !== 'deny' || all.some(({ rule }) => rule.effect !== 'deny');
  }

  return {
    policy: {
      forTool(tool: PolicyTool, onFailure) {
        const applied = rules.filter((rule) => rule.appliesTo(tool));
        return toolPolicy(tool, { decide: (use) => decide(use, applied), onFailure });
      },
      problems: (tools) => ruleProblems(rules, tools),
    },
  };
}

/** A rule that applies to a use, or may apply, depending on arguments that are not known. */
interface Match {
  readonly rule: ReadRule;
  readonly isCertain: boolean;
}

/** The rules that apply to a use. Synchronous if every condition is. */
function matches(use: ToolUse, rules: readonly ReadRule[]): readonly Match[] | Promise<readonly Match[]> {
  const found = rules.map((rule): Match | undefined | Promise<Match | undefined> => {
    const isCertain = rule.input === undefined || use.input !== undefined;
    const byCaller = rule.caller(use);
    const holds = byCaller instanceof Promise ? byCaller.then(checkInput) : checkInput(byCaller);
    return holds instanceof Promise ? holds.then(toMatch) : toMatch(holds);

    function checkInput(isCaller: boolean): boolean | Promise<boolean> {
      return isCaller && rule.input !== undefined && use.input !== undefined ? rule.input(use) : isCaller;
    }

    function toMatch(isMatch: boolean): Match | undefined {
      return isMatch ? { rule, isCertain } : undefined;
    }
  });
  const isFound = (match: Match | undefined): match is Match => match !== undefined;
  return found.some((match) => match instanceof Promise)
    ? Promise.all(found).then((all) => all.filter(isFound))
    : (found as (Match | undefined)[]).filter(isFound);
}
