// Reads complete results that a handler wrote itself, and tells them from data that has a field named `content`.

import { isObject } from '../../jsonrpc/message.js';
import { unknownKeys } from '../../protocol/checks/known-keys.js';
import { assertJson } from '../../protocol/encoding/json-value.js';
import { type ContentBlock, isContentBlock } from '../../protocol/model/content.js';
import { contentProblem } from '../../protocol/model/content-problem.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import type { ToolResult } from './tool-result.js';

/** The start of every error about a handler's value. */
export const UNSENDABLE = 'The returned value cannot be sent';

const resultKeys = {
  content: true,
  structuredContent: true,
  isError: true,
  _meta: true,
  resultType: true,
} as const;

/**
 * Reads a value as a complete result. Returns undefined for data. An object that has only the fields of a result is meant as a
 * result, so a mistake in it is an error. A result with a field that results do not have is an error, too.
 */
export function readToolResult(value: object): ToolResult | undefined {
  if (!('content' in value)) return readWithoutContent(value);
  const { content } = value;
  const others = unknownKeys(value, resultKeys, { meta: '_meta', data: 'structuredContent' });
  const isContent = Array.isArray(content) && content.every(isContentBlock);
  if (others.length === 0)
    return checkResult(isContent ? (value as ToolResult) : repairContent(value, content));
  if (!isContent || content.length === 0) return undefined;
  const [{ key, hint }] = others as [(typeof others)[number]];
  throw new TypeError(
    `${UNSENDABLE}: it has the content of a result, and a field ${JSON.stringify(key)} that results do not have. ${hint} For data that has a field "content", declare "output".`,
  );
}

/** Reads a value as a complete result if there is an output schema. Returns undefined for data, which the schema then checks. */
export function readResultWith(output: CompiledSchema, value: unknown): ToolResult | undefined {
  if (!isObject(value) || !Array.isArray(value['content']) || !value['content'].every(isContentBlock))
    return undefined;
  const { structuredContent, isError } = value;
  const { properties } = output.json;
  const isData =
    structuredContent === undefined &&
    isError !== true &&
    isObject(properties) &&
    Object.hasOwn(properties, 'content');
  return isData ? undefined : checkResult(value as unknown as ToolResult);
}

/** Checks that everything in a complete result is JSON. */
function checkResult(result: ToolResult): ToolResult {
  const { content, structuredContent, isError, _meta } = result;
  assertJson(structuredContent, `${UNSENDABLE}, in "structuredContent"`);
  if (content !== undefined) assertJson(content, `${UNSENDABLE}, in "content"`);
  if (isError !== undefined && typeof isError !== 'boolean')
    throw new TypeError(`${UNSENDABLE}: "isError" must be true or false.`);
  if (_meta !== undefined) checkMeta(_meta);
  const { resultType = 'complete' } = result as { readonly resultType?: unknown };
  if (resultType !== 'complete')
    throw new TypeError(
      `${UNSENDABLE}: "resultType" of a handler's result can only be "complete". Leave it out. To ask, use ctx.ask().`,
    );
  if (!isObject(structuredContent) || typeof structuredContent['toJSON'] !== 'function') return result;
  // A value with `toJSON` may not be an object for a client: a Date is a string.
  return { ...result, structuredContent: JSON.parse(JSON.stringify(structuredContent)) };
}

/** Checks that metadata is an object of JSON values. */
export function checkMeta(meta: unknown): void {
  if (!isObject(meta)) throw new TypeError(`${UNSENDABLE}: "_meta" must be an object.`);
  assertJson(meta, `${UNSENDABLE}, in "_meta"`);
}

// Strings among blocks are captions. Anything else is a mistake.
function repairContent(value: object, content: unknown): ToolResult {
  if (!Array.isArray(content)) {
    const advice =
      typeof content === 'string' ? 'Return the string itself' : 'Return the value itself, without "content"';
    throw new TypeError(
      `${UNSENDABLE}: it looks like a result, but "content" is not an array of content blocks. ${advice}, or { content: [text('…')] }. For data that has only a field "content", declare "output".`,
    );
  }
  const isMixed = content.some(isContentBlock);
  const blocks = content.map((item, index): ContentBlock => {
    if (typeof item === 'string' && isMixed) return { type: 'text', text: item };
    const problem = contentProblem(item);
    if (problem === undefined) return item as ContentBlock;
    throw new TypeError(`${UNSENDABLE}: it looks like a result, but content[${index}] ${problem}`);
  });
  return { ...(value as ToolResult), content: blocks };
}

// A value that has only fields of a result is a result. Its text is made from its structured content.
function readWithoutContent(value: object): ToolResult | undefined {
  if (('structuredContent' in value || 'isError' in value) && unknownKeys(value, resultKeys).length === 0) {
    const { structuredContent } = checkResult(value as ToolResult);
    if (structuredContent === undefined)
      throw new TypeError(
        `${UNSENDABLE}: it looks like a result, but has no "content". Add content: [text('…')].`,
      );
    return {
      ...(value as ToolResult),
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    };
  }
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (!Array.isArray(item) || item.length === 0 || !item.every(isContentBlock)) continue;
    const [unknown] = unknownKeys({ [key]: item }, resultKeys);
    if (unknown?.suggestion === 'content')
      throw new TypeError(`${UNSENDABLE}: "${key}" holds content blocks. ${unknown.hint}`);
  }
  return undefined;
}

/** The path to an image or audio block inside data, if there is one. With `isSample`, only the first item of each array is searched. */
export function buriedBlock(value: unknown, isSample: boolean, path = ''): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    const end = isSample ? Math.min(value.length, 1) : value.length;
    for (let index = 0; index < end; index++) {
      const blockPath = buriedBlock(value[index], isSample, `${path}[${index}]`);
      if (blockPath !== undefined) return blockPath;
    }
    return undefined;
  }
  if (isContentBlock(value) && (value.type === 'image' || value.type === 'audio')) return path;
  for (const key in value) {
    const item = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof item !== 'object' || item === null) continue;
    const blockPath = buriedBlock(item, isSample, path === '' ? key : `${path}.${key}`);
    if (blockPath !== undefined) return blockPath;
  }
  return undefined;
}
