// Bodies of several parts, and the files in them.

import { isObject } from '../../jsonrpc/message.js';
import { decodeBase64 } from '../../protocol/encoding/base64.js';
import { quote } from '../../protocol/encoding/shorten.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import { ToolError } from '../../server/results/tool-error.js';
import { print } from './styles.js';

/** The schema of an argument that is a file. */
export const fileSchema: JsonSchema = {
  type: 'object',
  properties: {
    data: { type: 'string', contentEncoding: 'base64', description: 'The bytes of the file, as base64.' },
    filename: { type: 'string', maxLength: 255 },
    contentType: { type: 'string', maxLength: 255, description: 'The media type, such as image/png.' },
  },
  required: ['data'],
  additionalProperties: false,
};

/** Decodes the base64 of an argument. */
export function bytesOf(value: unknown, name: string): Uint8Array<ArrayBuffer> {
  const bytes = typeof value === 'string' ? decodeBase64(value.replaceAll(/\s/g, '')) : undefined;
  if (bytes === undefined) throw new ToolError(`The value of ${quote(name, 60)} is not base64.`);
  return bytes;
}

/** The media type that a caller chose for a file; throws a `ToolError` for anything that is not one. */
export function mediaTypeOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(value)) return value;
  throw new ToolError(`${quote(print(value), 60)} is not a media type, such as image/png.`);
}

/** One field of the body. */
export interface Field {
  readonly name: string;
  readonly value: unknown;
  readonly isFile: boolean;
  readonly contentType: string | undefined;
}

const encoder = new TextEncoder();

/** Prints fields as `multipart/form-data`. An array gives a part for each of its items. */
export function printMultipart(fields: readonly Field[]): {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
} {
  const boundary = `fullmcp-${crypto.randomUUID()}`;
  const chunks = fields.flatMap(({ value, ...field }) =>
    [value].flat().flatMap((item) => printPart({ ...field, value: item }, boundary)),
  );
  chunks.push(encoder.encode(`--${boundary}--\r\n`));
  const body = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}

function printPart({ name, value, isFile, contentType }: Field, boundary: string): readonly Uint8Array[] {
  const file = isFile && isObject(value) ? value : undefined;
  const filename = file && `; filename="${escapeName(print(file['filename'] ?? name))}"`;
  const json = typeof value === 'object' && file === undefined;
  const type =
    mediaTypeOf(file?.['contentType']) ??
    contentType ??
    (file ? 'application/octet-stream' : json ? 'application/json' : undefined);
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"${filename ?? ''}\r\n${
    type === undefined ? '' : `Content-Type: ${type}\r\n`
  }\r\n`;
  const content = file ? bytesOf(file['data'], name) : encoder.encode(print(value));
  return [encoder.encode(head), content, encoder.encode('\r\n')];
}

function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
