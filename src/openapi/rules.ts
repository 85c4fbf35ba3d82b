// The rules that decide what an operation becomes.

import { type OptionTable, readOptions } from '../protocol/checks/options.js';
import { matchesPattern } from '../server/policy/patterns.js';
import type { OpenAPIOperation } from './document/operations.js';
import type { Trimming } from './response/read-reply.js';
import { fieldTree } from './response/trim.js';

/** A rule for the operations that all its conditions match. In patterns, `*` stands for any characters. */
export interface OpenAPIRule {
  /** The methods of the operations, such as `GET`. Default: any. */
  readonly methods?: readonly string[];
  /** A pattern for the path, such as `/admin/*`. Default: any. */
  readonly path?: string;
  /** Tags, of which the operation must have at least one. Default: any. */
  readonly tags?: readonly string[];
  /** A pattern for the `operationId`. Default: any, and operations without one. */
  readonly operationId?: string;
  /** Whether the operation is deprecated. Default: either. */
  readonly deprecated?: boolean;
  /** Decides in addition to the other conditions. */
  readonly when?: (operation: OpenAPIOperation) => boolean;
  /**
   * The kind of definition that the operation becomes. A `resource` needs the method GET; with parameters it is a template. `nothing` leaves it out. Default:
   * `tool`.
   */
  readonly as?: 'tool' | 'resource' | 'nothing';
  /** The fields of JSON replies to keep, such as `total` or `items.id`. The tool then has no output schema. Default: all. */
  readonly pick?: readonly string[];
  /** The characters of a reply; a longer one is cut. The tool then has no output schema. Default: no limit. */
  readonly maxChars?: number;
}

const ruleTable = {
  methods: 'strings',
  path: 'string',
  tags: 'strings',
  operationId: 'string',
  deprecated: 'boolean',
  when: 'function',
  as: { oneOf: ['tool', 'resource', 'nothing'], default: 'tool' },
  pick: 'strings',
  maxChars: 'count',
} as const satisfies OptionTable<OpenAPIRule>;

/** The outcome of a rule for an operation. */
export interface Decision {
  readonly as: 'tool' | 'resource' | 'nothing';
  readonly trimming: Trimming;
}

/** A rule that was checked. */
export interface Rule extends Decision {
  readonly matches: (operation: OpenAPIOperation) => boolean;
}

const usual: Decision = { as: 'tool', trimming: { pick: new Map(), maxChars: undefined } };

/** Checks the rules. */
export function readRules(rules: readonly OpenAPIRule[]): readonly Rule[] {
  return rules.map((rule, at) => {
    const {
      as,
      pick = [],
      maxChars,
    } = readOptions(`rules[${at}] of fromOpenAPI`, rule, ruleTable, {
      method: 'methods',
      tag: 'tags',
      type: 'as',
      mcpType: 'as',
    });
    return {
      as,
      trimming: { pick: fieldTree(pick), maxChars },
      matches: (operation) => matches(rule, operation),
    };
  });
}

/** The decision of the first rule that matches. */
export function decide(rules: readonly Rule[], operation: OpenAPIOperation): Decision {
  return rules.find((rule) => rule.matches(operation)) ?? usual;
}

function matches(rule: OpenAPIRule, operation: OpenAPIOperation): boolean {
  const { methods, path, tags, operationId, deprecated, when } = rule;
  return (
    (methods === undefined || methods.some((method) => method.toLowerCase() === operation.method)) &&
    (path === undefined || matchesPattern(path, operation.path)) &&
    (tags === undefined || tags.some((tag) => operation.tags.includes(tag))) &&
    (operationId === undefined ||
      (operation.operationId !== undefined && matchesPattern(operationId, operation.operationId))) &&
    (deprecated === undefined || deprecated === operation.deprecated) &&
    (when === undefined || when(operation) === true)
  );
}
