import type { JsonObject } from '../jsonrpc/message.js';
import { type Binary, toBase64 } from './binary.js';
import { fieldProblem, isBlockType } from './content-problem.js';

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

export function text(value: string, options: Block = {}): TextContent {
  if (typeof value !== 'string')
    throw new TypeError(
      `text() needs a string, not ${value === null ? 'null' : `a value of type ${typeof value}`}`,
    );
  return { type: 'text', text: value, ...options };
}

export function image(data: Binary, mimeType: string, options: Block = {}): ImageContent {
  return {
    type: 'image',
    data: toBase64(data, 'image()'),
    mimeType: checkedType(mimeType, 'image'),
    ...options,
  };
}

export function audio(data: Binary, mimeType: string, options: Block = {}): AudioContent {
  return {
    type: 'audio',
    data: toBase64(data, 'audio()'),
    mimeType: checkedType(mimeType, 'audio'),
    ...options,
  };
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
    typeof contents === 'string'
      ? { ...head, text: contents }
      : { ...head, blob: toBase64(contents, 'embed()') };
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

function checkedType(mimeType: string, kind: 'image' | 'audio'): string {
  if (typeof mimeType === 'string' && mimeType.includes('/')) return mimeType;
  const example = kind === 'image' ? 'image/png' : 'audio/wav';
  throw new TypeError(`${kind}() needs a MIME type as its second argument, such as '${example}'`);
}

/** Tells a content block from any other value that a handler may return. */
export function isContentBlock(value: unknown): value is ContentBlock {
  if (typeof value !== 'object' || value === null) return false;
  const { type } = value as JsonObject;
  return (
    typeof type === 'string' && isBlockType(type) && fieldProblem(type, value as JsonObject) === undefined
  );
}
