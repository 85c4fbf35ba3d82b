// Sorts the content of a result: what is the value, and what says the same as text.

import { isObject, type JsonObject } from '../../src/jsonrpc/message.js';
import { tryParse } from '../../src/jsonrpc/try-parse.js';

/** A block of content, with the role of a prompt's message or the URI of a resource's content. */
export interface Block {
  readonly content: JsonObject;
  readonly role?: string;
}

export interface ReadOutcome {
  /** Structured data: sent as such, or JSON in the only text. */
  readonly structured: unknown;
  readonly value: readonly Block[];
  readonly text: readonly Block[];
  readonly hasValue: boolean;
  readonly hasText: boolean;
}

const MAX_BLOCKS = 200;
const MAX_PARSED = 1_000_000;

export function readOutcome(outcome: JsonObject): ReadOutcome {
  const blocks = blocksOf(outcome).slice(0, MAX_BLOCKS);
  const texts = blocks.filter(isText);
  const others = blocks.filter((block) => !isText(block));
  const sent = outcome['structuredContent'];
  const [only] = texts;
  const isTool = Array.isArray(outcome['content']);
  const read = sent === undefined && isTool && texts.length === 1 && only ? jsonOf(only) : undefined;
  const structured = sent ?? read;
  if (structured === undefined)
    return { structured, value: blocks, text: [], hasValue: blocks.length > 0, hasText: false };
  // Text content that is the same JSON says nothing new.
  const same = JSON.stringify(structured);
  const different =
    read === undefined ? texts.filter((block) => JSON.stringify(jsonOf(block)) !== same) : texts;
  return { structured, value: others, text: different, hasValue: true, hasText: different.length > 0 };
}

function blocksOf(outcome: JsonObject): readonly Block[] {
  if (Array.isArray(outcome['content'])) return objectsIn(outcome['content']).map((content) => ({ content }));
  if (Array.isArray(outcome['contents']))
    return objectsIn(outcome['contents']).map((resource) => ({ content: { type: 'resource', resource } }));
  if (Array.isArray(outcome['messages']))
    return objectsIn(outcome['messages']).flatMap(({ role, content }) =>
      objectsIn(Array.isArray(content) ? content : [content]).map((each) => ({
        content: each,
        ...(typeof role === 'string' && { role }),
      })),
    );
  return [];
}

function objectsIn(list: readonly unknown[]): readonly JsonObject[] {
  return list.filter(isObject);
}

function isText({ content, role }: Block): boolean {
  return content['type'] === 'text' && role === undefined;
}

/** The object or array in text content; undefined if there is none. */
function jsonOf({ content }: Block): unknown {
  const text = content['text'];
  if (typeof text !== 'string' || text.length > MAX_PARSED) return undefined;
  const trimmed = text.trim();
  return trimmed.startsWith('{') || trimmed.startsWith('[') ? tryParse(trimmed) : undefined;
}
