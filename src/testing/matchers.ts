// Matchers for `expect.extend(matchers)`, in Vitest, Jest and Bun. They accept results of the client and raw results.

import { isObject } from '../jsonrpc/message.js';
import { printedValue } from '../protocol/encoding/printed-value.js';
import { shorten } from '../protocol/encoding/shorten.js';
import { type ErrorCode, McpError } from '../protocol/errors.js';
import type { ContentBlock } from '../protocol/model/content.js';

/** The result of a matcher. */
interface MatchResult {
  /** Whether the value matches. */
  readonly pass: boolean;
  /** Describes the mismatch. */
  readonly message: () => string;
}

/** The parts of a test runner's state that the matchers use. */
interface MatcherState {
  /** Whether the matcher was called with `.not`. */
  readonly isNot?: boolean;
  /** The test runner's own comparison. Default: a comparison as JSON. */
  readonly equals?: (a: unknown, b: unknown) => boolean;
}

/** A matcher as `expect.extend` takes it. */
type Matcher<Expected extends readonly unknown[]> = (
  this: MatcherState,
  received: unknown,
  ...expected: Expected
) => MatchResult;

/** The matchers that are added to `expect(…)`, for the declaration of your test runner's types. */
export interface McpMatchers<R = unknown> {
  /** Expects the result of a tool that failed, with a message that contains `messageIncludes`. */
  toBeToolError(messageIncludes?: string): R;
  /** Expects the text of a tool's, resource's or prompt's result: all of it as a string, or a part as a regular expression. */
  toHaveText(text: string | RegExp): R;
  /** Expects the structured content of a tool's result. */
  toHaveData(data: unknown): R;
  /** Expects an array of tools, or the raw result of `tools/list`, to have a tool of that name. */
  toHaveTool(name: string): R;
  /** Expects an `McpError`, with that code if one is given. */
  toBeMcpError(code?: ErrorCode): R;
}

// A type alias, because an interface does not have an implicit index signature.
/** The matchers by name. */
type Matchers = {
  /** Expects the result of a tool that failed, with a message that contains `messageIncludes`. */
  readonly toBeToolError: Matcher<[messageIncludes?: string]>;
  /** Expects the text of a tool's, resource's or prompt's result: all of it as a string, or a part as a regular expression. */
  readonly toHaveText: Matcher<[text: string | RegExp]>;
  /** Expects the structured content of a tool's result. */
  readonly toHaveData: Matcher<[data: unknown]>;
  /** Expects an array of tools, or the raw result of `tools/list`, to have a tool of that name. */
  readonly toHaveTool: Matcher<[name: string]>;
  /** Expects an `McpError`, with that code if one is given. */
  readonly toBeMcpError: Matcher<[code?: ErrorCode]>;
};

/** The matchers for `expect.extend(matchers)` in Vitest, Jest and Bun. They take results of the client and raw results. */
export const matchers: Matchers = {
  toBeToolError(received, messageIncludes = '') {
    const failed = field(received, 'isError') === true;
    const text = textOf(received);
    const wanted = messageIncludes === '' ? '' : ` that says ${shown(messageIncludes)}`;
    return matchResult(this, failed && text.includes(messageIncludes), {
      wanted: `a tool error${wanted}`,
      got: failed ? `a tool error that says ${shown(text)}` : described(received),
    });
  },
  toHaveText(received, expected) {
    const text = textOf(received);
    const pass = typeof expected === 'string' ? text === expected : text.search(expected) >= 0;
    return matchResult(this, pass, { wanted: `the text ${shown(expected)}`, got: shown(text) });
  },
  toHaveData(received, expected) {
    const data =
      field(received, 'data') ??
      field(received, 'structuredContent') ??
      (isObject(received) ? printedValue(received) : undefined);
    const equals = this.equals ?? ((a, b) => JSON.stringify(a) === JSON.stringify(b));
    return matchResult(this, equals(data, expected), {
      wanted: `the data ${shown(expected)}`,
      got: shown(data),
    });
  },
  toHaveTool(received, name) {
    const list = Array.isArray(received) ? received : field(received, 'tools');
    const names = Array.isArray(list) ? list.map((tool) => field(tool, 'name')) : [];
    return matchResult(this, names.includes(name), {
      wanted: `a tool named ${shown(name)}`,
      got: names.length > 0 ? names.join(', ') : described(received),
    });
  },
  toBeMcpError(received, code) {
    const known = McpError.is(received);
    return matchResult(this, known && (code === undefined || received.code === code), {
      wanted: `an McpError${code === undefined ? '' : ` with the code ${shown(code)}`}`,
      got: known ? `one with ${shown(received.code)}: ${received.message}` : described(received),
    });
  },
};

function matchResult(
  { isNot = false }: MatcherState,
  pass: boolean,
  { wanted, got }: { readonly wanted: string; readonly got: string },
): MatchResult {
  return { pass, message: () => `expected ${isNot ? 'anything but ' : ''}${wanted}, but got ${got}` };
}

/** All text of a result, one line for each block. */
function textOf(result: unknown): string {
  const text = field(result, 'text');
  if (typeof text === 'string') return text;
  const blocks = field(result, 'content') ?? field(result, 'contents') ?? field(result, 'messages');
  return (Array.isArray(blocks) ? blocks : [])
    .map((block) => field(field(block, 'content') ?? block, 'text') as ContentBlock)
    .filter((part) => typeof part === 'string')
    .join('\n');
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function described(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = textOf(value);
  return text === '' ? shown(value) : `a result with the text ${shown(text)}`;
}

function shown(value: unknown): string {
  return shorten(value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? String(value)), 500);
}
