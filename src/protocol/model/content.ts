import type { JsonObject } from '../../jsonrpc/message.js';
import { type Binary, toBase64 } from './binary.js';
import { fieldProblem, isBlockType } from './content-problem.js';

// Content blocks and their constructors.

/** The speaker of a message. */
export type Role = 'user' | 'assistant';

/** An image that stands for a server, a tool, a resource or a prompt. */
export interface Icon {
  /** An `https:` URL or a `data:` URI of the image. */
  readonly src: string;
  /** The MIME type of the image, for when its URL does not tell. */
  readonly mimeType?: string;
  /** The sizes at which the image may be used, such as `48x48`, or `any` for a scalable image. */
  readonly sizes?: readonly string[];
  /** The background that the icon is made for. Default: any. */
  readonly theme?: 'light' | 'dark';
}

/** Hints for the client on how to use a resource or a content block. */
export interface Annotations {
  /** The roles that the content is meant for. */
  readonly audience?: readonly Role[];
  /** The importance of the content, from 0 (least important) to 1 (required reading). */
  readonly priority?: number;
  /** The time of the last change, as an ISO 8601 string. */
  readonly lastModified?: string;
}

/** The fields that all content blocks share. */
interface Block {
  /** Hints on who the content is for and how important it is. */
  readonly annotations?: Annotations;
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  readonly _meta?: JsonObject;
}

/** A block of text. Make one with `text()`. */
export interface TextContent extends Block {
  /** Always `text`. */
  readonly type: 'text';
  /** The text itself. */
  readonly text: string;
}

/** An image. Make one with `image()`. */
export interface ImageContent extends Block {
  /** Always `image`. */
  readonly type: 'image';
  /** The bytes of the image, as base64. */
  readonly data: string;
  /** The MIME type of the image, such as `image/png`. */
  readonly mimeType: string;
}

/** A piece of audio. Make one with `audio()`. */
export interface AudioContent extends Block {
  /** Always `audio`. */
  readonly type: 'audio';
  /** The bytes of the sound, as base64. */
  readonly data: string;
  /** The MIME type of the sound, such as `audio/wav`. */
  readonly mimeType: string;
}

/** A link to a resource that the client may read. The resource need not be in the server's list. */
export interface ResourceLink extends Block {
  /** Always `resource_link`. */
  readonly type: 'resource_link';
  /** The URI to read the resource from. */
  readonly uri: string;
  /** The resource's name, for programs. */
  readonly name: string;
  /** The resource's name, for people. */
  readonly title?: string;
  /** A sentence about the resource, for models and people. */
  readonly description?: string;
  /** The MIME type of the resource's contents. */
  readonly mimeType?: string;
  /** Images that stand for the resource. */
  readonly icons?: readonly Icon[];
  /** The size of the contents in bytes, before any encoding. */
  readonly size?: number;
}

/** The contents of a resource that is text. */
interface TextResourceContents {
  /** The URI of these contents. */
  readonly uri: string;
  /** The MIME type of the text. */
  readonly mimeType?: string;
  /** The text itself. */
  readonly text: string;
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  readonly _meta?: JsonObject;
}

/** The contents of a resource that is binary. */
interface BlobResourceContents {
  /** The URI of these contents. */
  readonly uri: string;
  /** The MIME type of the bytes. */
  readonly mimeType?: string;
  /** The bytes, as base64. */
  readonly blob: string;
  /** Metadata of any kind, under prefixed names such as `example.com/name`. */
  readonly _meta?: JsonObject;
}

/** The contents of a resource: text, or bytes as base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents;

/** The contents of a resource inside a result. Make one with `embed()`. */
export interface EmbeddedResource extends Block {
  /** Always `resource`. */
  readonly type: 'resource';
  /** The resource's URI and contents. */
  readonly resource: ResourceContents;
}

/** One piece of a tool's result or of a prompt's message. `type` tells the kinds apart. */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** Makes a block of text. Throws a `TypeError` for anything that is not a string. */
export function text(value: string, options: Block = {}): TextContent {
  if (typeof value !== 'string')
    throw new TypeError(
      `text() needs a string, not ${value === null ? 'null' : `a value of type ${typeof value}`}.`,
    );
  return { type: 'text', text: value, ...options };
}

/**
 * Makes an image block from bytes or a base64 string. Throws a `TypeError` for other data, or without a MIME type.
 *
 * @example
 * const chart = tool({
 *   description: 'Draws the chart',
 *   run: async () => image(await readFile('chart.png'), 'image/png'),
 * });
 */
export function image(data: Binary, mimeType: string, options: Block = {}): ImageContent {
  return {
    type: 'image',
    data: toBase64(data, 'image()'),
    mimeType: checkMimeType(mimeType, 'image'),
    ...options,
  };
}

/** Makes an audio block from bytes or a base64 string. Throws a `TypeError` for other data, or without a MIME type. */
export function audio(data: Binary, mimeType: string, options: Block = {}): AudioContent {
  return {
    type: 'audio',
    data: toBase64(data, 'audio()'),
    mimeType: checkMimeType(mimeType, 'audio'),
    ...options,
  };
}

/** Makes a link to a resource that the client may read. Default of `name`: the URI. */
export function resourceLink(
  uri: string,
  options: Omit<ResourceLink, 'type' | 'uri' | 'name'> & { readonly name?: string } = {},
): ResourceLink {
  return { type: 'resource_link', uri, ...options, name: options.name ?? uri };
}

/** Makes a block with the contents of a resource: a string as text, bytes as base64. */
export function embed(
  uri: string,
  contents: string | Uint8Array | ArrayBuffer,
  options: Block & { readonly mimeType?: string } = {},
): EmbeddedResource {
  const { mimeType, ...rest } = options;
  const head = mimeType === undefined ? { uri } : { uri, mimeType };
  const resource =
    typeof contents === 'string'
      ? { ...head, text: contents }
      : { ...head, blob: toBase64(contents, 'embed()') };
  return { type: 'resource', resource, ...rest };
}

/** Makes a prompt message of the user. A string becomes a text block. */
export function user(content: string | ContentBlock): { role: 'user'; content: ContentBlock } {
  return { role: 'user', content: typeof content === 'string' ? text(content) : content };
}

/** Makes a prompt message of the assistant. A string becomes a text block. */
export function assistant(content: string | ContentBlock): { role: 'assistant'; content: ContentBlock } {
  return { role: 'assistant', content: typeof content === 'string' ? text(content) : content };
}

function checkMimeType(mimeType: string, kind: 'image' | 'audio'): string {
  if (typeof mimeType === 'string' && mimeType.includes('/')) return mimeType;
  const example = kind === 'image' ? 'image/png' : 'audio/wav';
  throw new TypeError(`${kind}() needs a MIME type as its second argument, such as '${example}'.`);
}

/** Tells a content block from any other value that a handler may return. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (typeof value !== 'object' || value === null) return false;
  const { type } = value as JsonObject;
  return (
    typeof type === 'string' && isBlockType(type) && fieldProblem(type, value as JsonObject) === undefined
  );
}
