// Values by reference: the value of a tool is kept, the model gets a handle, and another tool gets the value for it. Loaded with the first call.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call } from '../../protocol/call.js';
import { copyCall } from '../../protocol/direct.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ContentBlock } from '../../protocol/model/content.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import { followPointer } from '../../schema/document/pointer.js';
import type { Store } from '../../state/store.js';
import { pairEnd, StoredStrings } from '../../state/stored-strings.js';
import { isInputRequired } from '../asking/input-required.js';
import type { ToolRunResult } from '../catalog/run-tool.js';
import type { CompiledTool } from '../catalog/tools.js';
import type { ValueHandle } from '../define/tool-handler.js';
import { structuredResult, toolFailure } from '../results/results.js';
import type { ToolResult } from '../results/tool-result.js';
import type { Logger } from '../state/log.js';

/** The time that a value is kept. */
const TTL_MS = 86_400_000;
/** The values of one caller; a further one replaces the oldest. */
const MAX_STORED = 20;
/** The largest value, in characters of JSON. */
const MAX_CHARS = 2_000_000;
/** The handles in the arguments of one call. */
const MAX_HANDLES = 16;
/** The values that one call gets for handles, in characters of JSON. */
const MAX_OPENED = 4_000_000;
const PREVIEW_CHARS = 1000;
const MAX_KEYS = 12;
const MAX_KEY = 40;

const HANDLE = /^handle:([0-9a-f]{32})\.(\d{1,6})((?:\/[\s\S]{0,1000})?)$/;
/** A string that is meant as a handle, even if it is not one. */
const LIKE_HANDLE = /^handle:[0-9a-f]{8}/;

/** A call with the values of its handles, or the reason why there are none. */
export type OpenedCall = { readonly call: Call } | { readonly failure: ToolResult };

/** The server whose values are kept. */
interface ReferenceParts {
  readonly server: string;
  readonly store: () => Store;
  readonly log: Logger;
}

/** The values of a server that stand in its store, each for the caller that it was made for. */
export class ValueReferences {
  readonly #texts: StoredStrings;
  readonly #log: Logger;

  constructor({ server, store, log }: ReferenceParts) {
    this.#texts = new StoredStrings(
      store,
      { kind: 'value', name: server },
      { ttlMs: TTL_MS, maxStored: MAX_STORED, maxStoredChars: MAX_CHARS },
    );
    this.#log = log;
  }

  /** Keeps the value of a result for the caller. Returns the result with the handle in its place. */
  async keep(name: string, result: ToolRunResult, caller: Call): Promise<ToolRunResult> {
    if (isInputRequired(result) || result.isError) return result;
    const value = valueIn(result);
    const json = JSON.stringify(value) ?? 'null';
    if (json.length > MAX_CHARS)
      return toolFailure(
        `The value of ${name} has ${json.length} characters of JSON, and at most ${MAX_CHARS} are kept for a handle. Ask for less, or in pages.`,
      );
    const expiresAt = new Date(Date.now() + TTL_MS).toISOString();
    try {
      const { id, place } = await this.#texts.keep(caller, json, 'application/json');
      const handle = `handle:${id}.${place}`;
      const kept: ValueHandle = {
        handle,
        summary: `${describe(value)}, ${json.length} characters of JSON. ${usageOf(handle, value)}`,
        preview: json.length <= PREVIEW_CHARS ? json : `${json.slice(0, pairEnd(json, PREVIEW_CHARS))}…`,
        expiresAt,
      };
      return structuredResult(kept);
    } catch (error) {
      this.#log('error', `The value of the tool "${name}" could not be kept for a handle`, error);
      return toolFailure(
        `${name} has run, but its value could not be kept. Call it again later if it may run twice, or ask for less.`,
      );
    }
  }

  /** Replaces the handles in the arguments of a call by the values that they stand for. */
  async open({ name, paramHeaders }: CompiledTool, call: Call): Promise<OpenedCall> {
    const { params } = call;
    // A copy in a header is a string that proxies route by. It stands for itself.
    const mirrored = new Set(paramHeaders.map(({ path }) => path[0]));
    const opening = new Opening(this.#texts, call);
    const opened: [string, unknown][] = [];
    for (const [key, value] of Object.entries(params['arguments'] as JsonObject)) {
      const found = mirrored.has(key) ? { value } : await opening.open(value);
      if ('problem' in found)
        return { failure: toolFailure(`${INVALID_ARGUMENTS}${name}. ${shorten(key, 64)}: ${found.problem}`) };
      opened.push([key, found.value]);
    }
    return { call: copyCall(call, { params: { ...params, arguments: Object.fromEntries(opened) } }) };
  }
}

type Found = { readonly value: unknown } | { readonly problem: string };

/** The handles of one call. The same handle with several pointers is read once. */
class Opening {
  readonly #texts: StoredStrings;
  readonly #call: Call;
  readonly #values = new Map<string, { readonly value: unknown } | undefined>();
  #chars = 0;

  constructor(texts: StoredStrings, call: Call) {
    this.#texts = texts;
    this.#call = call;
  }

  /** The value that an argument stands for: itself, unless it is a handle. */
  async open(argument: unknown): Promise<Found> {
    if (typeof argument !== 'string' || !LIKE_HANDLE.test(argument)) return { value: argument };
    const [, id, place, pointer = ''] = HANDLE.exec(argument) ?? [];
    if (id === undefined || place === undefined) return { problem: UNKNOWN };
    const name = `${id}.${place}`;
    if (!this.#values.has(name)) {
      if (this.#values.size === MAX_HANDLES)
        return { problem: `A call may have at most ${MAX_HANDLES} handles.` };
      const json = await this.#texts.readAll(this.#call, { id, place });
      this.#chars += json?.length ?? 0;
      if (this.#chars > MAX_OPENED)
        return {
          problem: `The values of all handles in this call have more than ${MAX_OPENED} characters. Pass parts of them, or make several calls.`,
        };
      this.#values.set(name, json === undefined ? undefined : { value: JSON.parse(json) });
    }
    const whole = this.#values.get(name);
    if (whole === undefined) return { problem: UNKNOWN };
    const value = followPointer(whole.value, pointer);
    return value === undefined ? { problem: nothingAt(whole.value, pointer) } : { value };
  }
}

// One sentence for all of them: it does not tell whether another caller has such a handle.
const UNKNOWN =
  'This handle stands for no value: it is unknown, has expired, was replaced by newer ones, or belongs to another caller. Call the tool that returned it again.';

function nothingAt(whole: unknown, pointer: string): string {
  const tokens = pointer.split('/');
  let above = '';
  let value = whole;
  for (let count = tokens.length - 1; count > 0; count--) {
    above = tokens.slice(0, count).join('/');
    value = followPointer(whole, above);
    if (value !== undefined) break;
  }
  const where = above === '' ? 'The value itself is' : `At ${JSON.stringify(shorten(above, 100))} is`;
  return `The value of this handle has nothing at ${JSON.stringify(shorten(pointer, 100))}. ${where} ${lowerFirst(describe(value))}.`;
}

/** The value of a result: its structured content, or else its text, or else its content. */
function valueIn({ structuredContent, content }: ToolResult): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const texts = content.map((block: ContentBlock) => (block.type === 'text' ? block.text : undefined));
  return texts.includes(undefined) ? content : texts.join('\n');
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `An array of ${counted(value.length, 'item')}`;
  if (isObject(value)) {
    const keys = Object.keys(value);
    const shown = keys.slice(0, MAX_KEYS).map((key) => shorten(key, MAX_KEY));
    const names = `${shown.join(', ')}${keys.length > MAX_KEYS ? ', …' : ''}`;
    return `An object with ${counted(keys.length, 'field')}${keys.length > 0 ? ` (${names})` : ''}`;
  }
  return typeof value === 'string'
    ? `A string of ${counted(value.length, 'character')}`
    : JSON.stringify(value);
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function lowerFirst(text: string): string {
  return text.replace(/^An? /, (article) => article.toLowerCase());
}

/** Tells a model how to use a handle, with a pointer that exists. */
function usageOf(handle: string, value: unknown): string {
  const whole = 'Pass the handle as an argument of another tool in place of the value';
  const first = Array.isArray(value)
    ? value.length > 0 && '0'
    : isObject(value) && Object.keys(value).find((key) => /^[\w-]{1,40}$/.test(key));
  return first ? `${whole}, or with a JSON Pointer for a part of it: ${handle}/${first}` : `${whole}.`;
}
