import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { STRUCTURED } from '../../protocol/tables/meta-keys.js';
import { pairEnd } from '../../state/stored-strings.js';
import { charsBeyond } from '../facts/json-size.js';

// The result of a tool with its beginning in place of a large text.

/** The text of a result that is too large. */
export interface LargePart {
  readonly text: string;
  readonly mimeType: string;
  /** Whether it is the structured content that is too large, and not the text that the result has beside it. */
  readonly isStructured: boolean;
}

/** The text of a result that does not fit into `max` characters; undefined if all of it does. */
export function largePart({ content, structuredContent }: JsonObject, max: number): LargePart | undefined {
  const texts = blocksOf(content)
    .map(textOf)
    .filter((text) => text !== undefined);
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  if (chars > max) {
    const isJson = structuredContent !== undefined && texts.length === 1;
    return {
      text: texts.join('\n\n'),
      mimeType: isJson ? 'application/json' : 'text/plain',
      isStructured: false,
    };
  }
  if (structuredContent === undefined || charsBeyond(max, structuredContent) === undefined) return undefined;
  return { text: JSON.stringify(structuredContent), mimeType: 'application/json', isStructured: true };
}

/** A stored result. */
export interface StoredOutput {
  readonly uri: string;
  /** The characters that are stored. */
  readonly chars: number;
}

/** The facts that a shortened result tells. */
export interface Shortening {
  readonly headChars: number;
  readonly pageChars: number;
  readonly ttlMs: number;
  /** The whole text; undefined if it could not be stored. */
  readonly stored: StoredOutput | undefined;
  /** Whether clients need the structured content, however large it is. */
  readonly keepsStructured: boolean;
  readonly max: number;
}

/** The result without its large part: with its beginning, the link to the whole text, and the blocks that are not text. */
export function shortened(result: JsonObject, large: LargePart, shortening: Shortening): JsonObject {
  const { content, structuredContent, _meta, ...rest } = result;
  const { stored, keepsStructured, max } = shortening;
  const blocks = blocksOf(content);
  const kept = large.isStructured ? blocks : blocks.filter((block) => textOf(block) === undefined);
  const keeps =
    structuredContent !== undefined && (keepsStructured || charsBeyond(max, structuredContent) === undefined);
  return {
    ...rest,
    content: [
      { type: 'text', text: summaryOf(large, shortening) },
      ...kept,
      ...(stored === undefined ? [] : [linkTo(stored, large)]),
    ],
    ...(keeps && { structuredContent }),
    // The mark says that the text is the JSON of the value, which is no longer true.
    ...(isObject(_meta) && { _meta: without(STRUCTURED, _meta) }),
  };
}

function summaryOf(
  { text, isStructured }: LargePart,
  { headChars, pageChars, ttlMs, stored }: Shortening,
): string {
  const shown = Math.min(pairEnd(text, headChars), text.length);
  const subject = isStructured ? 'structured result, as JSON,' : 'result';
  const size = `The ${subject} has ${text.length} characters; above are the first ${shown}.`;
  const lost =
    stored !== undefined && stored.chars < text.length ? ` Only the first ${stored.chars} were stored.` : '';
  const way =
    stored === undefined
      ? 'The rest was not stored.'
      : `To see more, read the resource ${stored.uri}?offset=${shown}, which returns up to ${pageChars} characters at a time, within ${duration(ttlMs)}.`;
  return `${text.slice(0, shown)}\n\n[${size}${lost} ${way} Or call the tool again and ask for less, if it may be called twice.]`;
}

function linkTo({ uri, chars }: StoredOutput, { text, mimeType }: LargePart): JsonObject {
  return {
    type: 'resource_link',
    uri,
    name: 'full result',
    description: `The complete result: ${chars} characters.`,
    mimeType,
    size: new TextEncoder().encode(text.slice(0, chars)).length,
  };
}

function blocksOf(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [];
}

/** The text of a block that the model reads as text. Images and sounds have a size of their own kind. */
function textOf(block: unknown): string | undefined {
  const holder = isObject(block) && block['type'] === 'resource' ? block['resource'] : block;
  return isObject(holder) && typeof holder['text'] === 'string' ? holder['text'] : undefined;
}

function without(name: string, object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

function duration(ms: number): string {
  return ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.floor(ms / 60_000)} minutes`;
}
