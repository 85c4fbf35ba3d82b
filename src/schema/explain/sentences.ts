// The sentence for each keyword that a value does not satisfy.

import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { choice, clip, describeValue, expectation, formatWords, typeWords } from './expectation.js';

/** Says what an unsatisfied keyword requires; undefined if the findings inside the keyword say more. */
export function sentence(
  document: SchemaDocument,
  node: SchemaNode,
  { keyword, value }: { readonly keyword: string; readonly value: unknown },
): string | undefined {
  const limit = node[keyword];
  switch (keyword) {
    case 'type':
      // A constant or an enum says more, and is then unsatisfied as well.
      if (node.enum !== undefined || Object.hasOwn(node, 'const')) return undefined;
      return `expected ${expectation(document, node) ?? typeWords(node.type ?? [])}, got ${describeValue(value)}`;
    case 'const':
      return `expected ${choice([limit])}, got ${describeValue(value)}`;
    case 'enum':
      return `expected ${choice(limit as readonly unknown[])}, got ${describeValue(value)}`;
    case 'format':
      return `expected ${formatWords(String(limit))}, got ${describeValue(value)}`;
    case 'pattern':
      return `must match the pattern ${clip(String(limit))}, got ${describeValue(value)}`;
    case 'minLength':
      return `must have at least ${plural(limit, 'character')}, got ${lengthOf(value)}`;
    case 'maxLength':
      return `must have at most ${plural(limit, 'character')}, got ${lengthOf(value)}`;
    case 'minimum':
      return `must be at least ${limit}, got ${value}`;
    case 'maximum':
      return `must be at most ${limit}, got ${value}`;
    case 'exclusiveMinimum':
      return `must be greater than ${limit}, got ${value}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}, got ${value}`;
    case 'multipleOf':
      return `must be a multiple of ${limit}, got ${value}`;
    case 'minItems':
      return `must have at least ${plural(limit, 'item')}, got ${lengthOf(value)}`;
    case 'maxItems':
      return `must have at most ${plural(limit, 'item')}, got ${lengthOf(value)}`;
    case 'uniqueItems':
      return 'has the same item more than once';
    case 'contains':
      return `must contain ${expectation(document, node['contains'] as SchemaNode | boolean) ?? 'a matching item'}`;
    case 'minContains':
      return `must contain at least ${plural(limit, 'matching item')}`;
    case 'maxContains':
      return `must contain at most ${plural(limit, 'matching item')}`;
    case 'minProperties':
      return `must have at least ${plural(limit, 'field')}, got ${lengthOf(value)}`;
    case 'maxProperties':
      return `must have at most ${plural(limit, 'field')}, got ${lengthOf(value)}`;
    case 'not':
      return 'has a value that is not allowed';
    default:
      return undefined;
  }
}

/** The length of a value as the validator counts it: in characters, items or fields. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function plural(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
