// Follows the references of a document. Nothing outside of the document is ever read.

import { isObject } from '../../jsonrpc/message.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import { followPointer } from '../../schema/document/pointer.js';
import { OpenAPIError } from './openapi-error.js';

/** An object of a document. */
export type Json = Readonly<Record<string, unknown>>;

/** The target of a reference. */
export interface ReferenceTarget {
  /** The JSON Pointer of the target, decoded. */
  readonly pointer: string;
  readonly value: unknown;
}

const MAX_HOPS = 100;

/** The references of one document. */
export class DocumentReferences {
  readonly #root: Json;
  /** The address that the document gives itself. References to it are to the document. */
  readonly #self: string | undefined;

  constructor(root: Json) {
    this.#root = root;
    this.#self = withoutFragment(root['$self'], ANYWHERE);
  }

  /** The object that a reference leads to, through other references if there are some; any other object as it is. */
  object(value: unknown, where: string): Json {
    const { value: found } = this.end(value, where);
    if (isObject(found)) return found;
    // PHP prints an empty object as an empty array, and published documents have such.
    if (Array.isArray(found) && found.length === 0) return {};
    throw new OpenAPIError(
      `${where} must be an object, not ${shorten(JSON.stringify(found) ?? 'nothing', 40)}.`,
    );
  }

  /** The end of a chain of references. Its pointer is empty if the value is not a reference. */
  end(value: unknown, where: string): ReferenceTarget {
    let target: ReferenceTarget = { pointer: '', value };
    for (let hops = 0; isObject(target.value) && typeof target.value['$ref'] === 'string'; hops++) {
      if (hops === MAX_HOPS)
        throw new OpenAPIError(
          `The reference at ${where} leads through more than ${MAX_HOPS} others, perhaps in a circle. Refer to the target itself.`,
        );
      target = this.#follow(target.value['$ref'], where);
    }
    return target;
  }

  /** The value at a pointer that `end` returned. */
  at(pointer: string): unknown {
    return followPointer(this.#root, pointer);
  }

  #follow(ref: string, where: string): ReferenceTarget {
    const isOwn =
      ref.startsWith('#') || (this.#self !== undefined && withoutFragment(ref, this.#self) === this.#self);
    if (!isOwn)
      throw new OpenAPIError(
        `The reference ${quote(ref, 200)} at ${where} is to another document, and references are never fetched. Bundle the documents into one first.`,
      );
    const mark = ref.indexOf('#');
    const pointer = mark === -1 ? '' : decode(ref.slice(mark + 1));
    const value = pointer === '' || pointer.startsWith('/') ? this.at(pointer) : undefined;
    if (value === undefined)
      throw new OpenAPIError(
        `The reference ${quote(ref, 200)} at ${where} has no target in the document. Correct it, or define its target.`,
      );
    return { pointer, value };
  }
}

/** The base of addresses that the document gives itself without a host. Nothing is ever requested from it. */
const ANYWHERE = 'https://document.invalid/';

function withoutFragment(url: unknown, base: string): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url, base)) return undefined;
  const parsed = new URL(url, base);
  parsed.hash = '';
  return parsed.href;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // Some documents have names with a percent sign and do not encode it.
    return fragment;
  }
}
