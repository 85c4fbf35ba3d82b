import type { JsonObject } from '../jsonrpc/message.js';
import { encodeBase64 } from './base64.js';

// Content blocks and their constructors.

export type Role = 'user' | 'assistant';

export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

export interface Annotations {
  readonly audience?: readonly Role[];
  /** 0 is least important, 1 is required reading. */
  readonly priority?: number;
  readonly lastModified?: string;
}

interface Block {
  readonly annotations?: Annotations;
  readonly _meta?: JsonObject;
}

export interface TextContent extends Block {
  readonly type: 'text';
  readonly text: string;
}

export interface ImageContent extends Block {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
}

export interface AudioContent extends Block {
  readonly type: 'audio';
  readonly data: string;
  readonly mimeType: string;
}

export interface ResourceLink extends Block {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly icons?: readonly Icon[];
  readonly size?: number;
}

interface TextResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text: string;
  readonly _meta?: JsonObject;
}

interface BlobResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  /** Base64. */
  readonly blob: string;
  readonly _meta?: JsonObject;
}

export type ResourceContents = TextResourceContents | BlobResourceContents;

export interface EmbeddedResource extends Block {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** Bytes, or text that is already base64. */
export type Binary = Uint8Array | ArrayBuffer | string;

export function text(value: string, options: Block = {}): TextContent {
  return { type: 'text', text: value, ...options };
}

export function image(data: Binary, mimeType: string, options: Block = {}): ImageContent {
  return { type: 'image', data: toBase64(data), mimeType, ...options };
}

export function audio(data: Binary, mimeType: string, options: Block = {}): AudioContent {
  return { type: 'audio', data: toBase64(data), mimeType, ...options };
}

/** Points at a resource that the client may read. The name defaults to the URI. */
export function resourceLink(
  uri: string,
  options: Omit<ResourceLink, 'type' | 'uri' | 'name'> & { readonly name?: string } = {},
): ResourceLink {
  return { type: 'resource_link', uri, ...options, name: options.name ?? uri };
}

/** Puts a resource's contents into the result. */
export function embed(
  uri: string,
  contents: string | Uint8Array | ArrayBuffer,
  options: Block & { readonly mimeType?: string } = {},
): EmbeddedResource {
  const { mimeType, ...rest } = options;
  const head = mimeType === undefined ? { uri } : { uri, mimeType };
  const resource =
    typeof contents === 'string' ? { ...head, text: contents } : { ...head, blob: toBase64(contents) };
  return { type: 'resource', resource, ...rest };
}

/** A prompt message from the user. */
export function user(content: string | ContentBlock): { role: 'user'; content: ContentBlock } {
  return { role: 'user', content: typeof content === 'string' ? text(content) : content };
}

/** A prompt message from the assistant. */
export function assistant(content: string | ContentBlock): { role: 'assistant'; content: ContentBlock } {
  return { role: 'assistant', content: typeof content === 'string' ? text(content) : content };
}

const required: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

/** Tells a content block from any other value that a handler may return. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (typeof value !== 'object' || value === null) return false;
  const block = value as JsonObject;
  if (block['type'] === 'resource') {
    const resource = block['resource'] as JsonObject | undefined | null;
    if (typeof resource !== 'object' || resource === null || typeof resource['uri'] !== 'string')
      return false;
    return typeof resource['text'] === 'string' || typeof resource['blob'] === 'string';
  }
  if (typeof block['type'] !== 'string' || !Object.hasOwn(required, block['type'])) return false;
  return (required[block['type']] ?? []).every((field) => typeof block[field] === 'string');
}

function toBase64(data: Binary): string {
  if (typeof data === 'string') return data;
  return encodeBase64(data instanceof Uint8Array ? data : new Uint8Array(data));
}
