import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { quote } from '../encoding/shorten.js';

// The fields that each type of content block needs, and the messages for a block that lacks them.

const required: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
};

const makers = 'text(), image(), audio(), resourceLink() or embed()';

/** The mistake in a content block, as the rest of a sentence that begins with its name; undefined for a valid block. */
export function contentProblem(value: unknown): string | undefined {
  if (typeof value === 'string') return "is a string. Write text('…').";
  if (!isObject(value)) return `is not a content block. Make one with ${makers}.`;
  const { type } = value;
  if (typeof type !== 'string') return `has no "type". Make a content block with ${makers}.`;
  if (isBlockType(type)) return fieldProblem(type, value);
  const suggestion = closestName(type, Object.keys(required));
  const hint =
    suggestion === undefined ? `Make a content block with ${makers}.` : `Did you mean "${suggestion}"?`;
  return `has the type ${quote(type, 40)}. ${hint}`;
}

export function isBlockType(type: string): boolean {
  return Object.hasOwn(required, type);
}

/** The mistake in the fields of a block whose type is known; undefined for a valid block. */
export function fieldProblem(type: string, value: JsonObject): string | undefined {
  if (type === 'resource') {
    const { resource } = value;
    const isWhole =
      isObject(resource) &&
      typeof resource['uri'] === 'string' &&
      (typeof resource['text'] === 'string' || typeof resource['blob'] === 'string');
    return isWhole ? undefined : 'needs a "resource" with "uri" and "text" or "blob". Make it with embed().';
  }
  const missing = (required[type] ?? []).find((field) => typeof value[field] !== 'string');
  return missing === undefined ? undefined : `needs a string "${missing}".`;
}
