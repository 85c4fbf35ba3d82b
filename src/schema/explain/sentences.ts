// The sentence for each keyword that a value does not satisfy.

import type { SchemaDocument, SchemaNode } from '../document/nodes.js';
import { choice, clip, describeValue, expectation, formatWords, typeWords } from './expectation.js';

/** A keyword of a schema that a value does not satisfy. */
interface Unsatisfied {
  readonly document: SchemaDocument;
  readonly node: SchemaNode;
  /** The value of the keyword. */
  readonly limit: unknown;
  readonly value: unknown;
}

const SENTENCES: Readonly<Record<string, (found: Unsatisfied) => string | undefined>> = {
  type: typeSentence,
  const: ({ limit, value }) => `expected ${choice([limit])}, got ${describeValue(value)}`,
  enum: ({ limit, value }) => `expected ${choice(limit as readonly unknown[])}, got ${describeValue(value)}`,
  format: ({ limit, value }) => `expected ${formatWords(String(limit))}, got ${describeValue(value)}`,
  pattern: ({ limit, value }) => `must match the pattern ${clip(String(limit))}, got ${describeValue(value)}`,
  minLength: (found) => `must have at least ${amount(found, 'character')}`,
  maxLength: (found) => `must have at most ${amount(found, 'character')}`,
  minimum: ({ limit, value }) => `must be at least ${limit}, got ${value}`,
  maximum: ({ limit, value }) => `must be at most ${limit}, got ${value}`,
  exclusiveMinimum: ({ limit, value }) => `must be greater than ${limit}, got ${value}`,
  exclusiveMaximum: ({ limit, value }) => `must be less than ${limit}, got ${value}`,
  multipleOf: ({ limit, value }) => `must be a multiple of ${limit}, got ${value}`,
  minItems: (found) => `must have at least ${amount(found, 'item')}`,
  maxItems: (found) => `must have at most ${amount(found, 'item')}`,
  uniqueItems: () => 'has the same item more than once',
  contains: containsSentence,
  minContains: ({ limit }) => `must contain at least ${plural(limit, 'matching item')}`,
  maxContains: ({ limit }) => `must contain at most ${plural(limit, 'matching item')}`,
  minProperties: (found) => `must have at least ${amount(found, 'field')}`,
  maxProperties: (found) => `must have at most ${amount(found, 'field')}`,
  not: () => 'has a value that is not allowed',
};

/** Says what an unsatisfied keyword requires; undefined if the findings inside the keyword say more. */
export function sentence(
  document: SchemaDocument,
  node: SchemaNode,
  { keyword, value }: { readonly keyword: string; readonly value: unknown },
): string | undefined {
  if (!Object.hasOwn(SENTENCES, keyword)) return undefined;
  return SENTENCES[keyword]?.({ document, node, limit: node[keyword], value });
}

function typeSentence({ document, node, value }: Unsatisfied): string | undefined {
  // A constant or an enum says more, and is then unsatisfied as well.
  if (node.enum !== undefined || Object.hasOwn(node, 'const')) return undefined;
  return `expected ${expectation(document, node) ?? typeWords(node.type ?? [])}, got ${describeValue(value)}`;
}

function containsSentence({ document, limit }: Unsatisfied): string {
  return `must contain ${expectation(document, limit as SchemaNode | boolean) ?? 'a matching item'}`;
}

function amount({ limit, value }: Unsatisfied, noun: string): string {
  return `${plural(limit, noun)}, got ${lengthOf(value)}`;
}

/** The length of a value as the validator counts it: in characters, items or fields. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Array.from(value).length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function plural(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
