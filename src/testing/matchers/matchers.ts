// Matchers for `expect.extend(matchers)`, in Vitest, Jest and Bun. They accept results of the client and raw results.

import { isObject } from '../../jsonrpc/message.js';
import { printedValue } from '../../protocol/encoding/printed-value.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { type ErrorCode, McpError } from '../../protocol/errors.js';
import type { ContentBlock } from '../../protocol/model/content.js';
import {
  blocksOf,
  type ContentMatch,
  describeBlocks,
  describeMatch,
  type Equals,
  matchesBlock,
} from './content.js';
import {
  describe as describeNotification,
  describeReceived,
  fullMethod,
  hasReceived,
  toTestClient,
  type Wanted,
} from './received.js';

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

/** A matcher for `expect.extend`. */
type Matcher<Expected extends readonly unknown[]> = (
  this: MatcherState,
  received: unknown,
  ...expected: Expected
) => MatchResult;

/** A matcher that has to be awaited. */
type AsyncMatcher<Expected extends readonly unknown[]> = (
  this: MatcherState,
  received: unknown,
  ...expected: Expected
) => Promise<MatchResult>;

/** The matchers that are added to `expect(…)`, for the declaration of your test runner's types. */
export interface McpMatchers<R = unknown> {
  /** Expects a tool's result with `isError`; if `messageIncludes` is passed, its text must contain that string. */
  toBeToolError(messageIncludes?: string): R;
  /** Expects the text of a tool's, resource's or prompt's result to equal a string, or to match a regular expression. */
  toHaveText(text: string | RegExp): R;
  /** Expects the structured content of a tool's result to equal `data`. */
  toHaveData(data: unknown): R;
  /** Expects an array of tools, or the raw result of `tools/list`, to have a tool with this name. */
  toHaveTool(name: string): R;
  /** Expects an `McpError`; if `code` is passed, with that code. */
  toBeMcpError(code?: ErrorCode): R;
  /**
   * Expects content blocks. One expected block: some block of the result has these fields. An array: the result has exactly these
   * blocks, in this order. Accepts results of tools, resources and prompts, and arrays of blocks.
   */
  toHaveContent(expected: ContentMatch | readonly ContentMatch[]): R;
  /**
   * Expects a client of `testClient` to have received a notification with this method, which may be written without
   * `notifications/`, and with these fields in its parameters. Await it: it waits for everything that the server has sent, and a
   * second longer for what is expected.
   */
  toHaveReceived(method: string, params?: Readonly<Record<string, unknown>>): Promise<R>;
  /** Expects a client of `testClient` to have received an update of the resource with this URI. Await it. */
  toHaveReceivedUpdate(uri: string): Promise<R>;
}

// A type alias, because an interface does not have an implicit index signature.
/** The matchers by name. */
type Matchers = {
  /** Expects a tool's result with `isError`; if `messageIncludes` is passed, its text must contain that string. */
  readonly toBeToolError: Matcher<[messageIncludes?: string]>;
  /** Expects the text of a tool's, resource's or prompt's result to equal a string, or to match a regular expression. */
  readonly toHaveText: Matcher<[text: string | RegExp]>;
  /** Expects the structured content of a tool's result to equal `data`. */
  readonly toHaveData: Matcher<[data: unknown]>;
  /** Expects an array of tools, or the raw result of `tools/list`, to have a tool with this name. */
  readonly toHaveTool: Matcher<[name: string]>;
  /** Expects an `McpError`; if `code` is passed, with that code. */
  readonly toBeMcpError: Matcher<[code?: ErrorCode]>;
  /** Expects content blocks: one that some block matches, or an array of all, in order. */
  readonly toHaveContent: Matcher<[expected: ContentMatch | readonly ContentMatch[]]>;
  /** Expects a client of `testClient` to have received a notification. Await it. */
  readonly toHaveReceived: AsyncMatcher<[method: string, params?: Readonly<Record<string, unknown>>]>;
  /** Expects a client of `testClient` to have received an update of a resource. Await it. */
  readonly toHaveReceivedUpdate: AsyncMatcher<[uri: string]>;
};

/** The matchers for `expect.extend(matchers)` in Vitest, Jest and Bun. They accept results of the client and raw results. */
export const matchers: Matchers = {
  toBeToolError(received, messageIncludes = '') {
    const isError = field(received, 'isError') === true;
    const text = textOf(received);
    const message = messageIncludes === '' ? '' : ` that says ${print(messageIncludes)}`;
    return matchResult(this, isError && text.includes(messageIncludes), {
      expected: `a tool error${message}`,
      actual: isError ? `a tool error that says ${print(text)}` : describe(received),
    });
  },
  toHaveText(received, expected) {
    const text = textOf(received);
    const pass = typeof expected === 'string' ? text === expected : text.search(expected) >= 0;
    return matchResult(this, pass, { expected: `the text ${print(expected)}`, actual: print(text) });
  },
  toHaveData(received, expected) {
    const data =
      field(received, 'data') ??
      field(received, 'structuredContent') ??
      (isObject(received) ? printedValue(received) : undefined);
    return matchResult(this, equalsOf(this)(data, expected), {
      expected: `the data ${print(expected)}`,
      actual: print(data),
    });
  },
  toHaveTool(received, name) {
    const list = Array.isArray(received) ? received : field(received, 'tools');
    const names = Array.isArray(list) ? list.map((tool) => field(tool, 'name')) : [];
    return matchResult(this, names.includes(name), {
      expected: `a tool named ${print(name)}`,
      actual: names.length > 0 ? names.join(', ') : describe(received),
    });
  },
  toBeMcpError(received, code) {
    const isMcpError = McpError.is(received);
    return matchResult(this, isMcpError && (code === undefined || received.code === code), {
      expected: `an McpError${code === undefined ? '' : ` with the code ${print(code)}`}`,
      actual: isMcpError ? `one with ${print(received.code)}: ${received.message}` : describe(received),
    });
  },
  toHaveContent(received, expected) {
    const blocks = blocksOf(received);
    const equals = equalsOf(this);
    const wanted = Array.isArray(expected) ? (expected as readonly ContentMatch[]) : undefined;
    const pass =
      wanted === undefined
        ? blocks?.some((block) => matchesBlock(block, expected as ContentMatch, equals)) === true
        : blocks?.length === wanted.length &&
          wanted.every((one, at) => matchesBlock(blocks[at], one, equals));
    return matchResult(this, pass, {
      expected: `the content ${describeMatch(expected)}`,
      actual: blocks === undefined ? describe(received) : describeBlocks(blocks),
    });
  },
  toHaveReceived(received, method, params) {
    return receivedResult(this, received, { method: fullMethod(method), params });
  },
  toHaveReceivedUpdate(received, uri) {
    return receivedResult(this, received, { method: 'notifications/resources/updated', params: { uri } });
  },
};

async function receivedResult(state: MatcherState, received: unknown, wanted: Wanted): Promise<MatchResult> {
  const { isNot = false } = state;
  const client = toTestClient(received, 'toHaveReceived');
  const pass = await hasReceived(client, wanted, { equals: equalsOf(state), isWanted: !isNot });
  const what = isNot ? 'not to receive' : 'to receive';
  return {
    pass,
    message: () =>
      `expected the client ${what} ${describeNotification(wanted)}, but ${describeReceived(client)}`,
  };
}

function equalsOf({ equals = sameJson }: MatcherState): Equals {
  return equals;
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function matchResult(
  { isNot = false }: MatcherState,
  pass: boolean,
  { expected, actual }: { readonly expected: string; readonly actual: string },
): MatchResult {
  return { pass, message: () => `expected ${isNot ? 'anything but ' : ''}${expected}, but got ${actual}` };
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

function describe(value: unknown): string {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const text = textOf(value);
  return text === '' ? print(value) : `a result with the text ${print(text)}`;
}

function print(value: unknown): string {
  return shorten(value instanceof RegExp ? String(value) : (JSON.stringify(value) ?? String(value)), 500);
}
