import { encodeBase64 } from '../encoding/base64.js';
import { quote } from '../encoding/shorten.js';

// Binary data for content blocks, as base64.

/** Bytes, or a string that is base64 already. */
export type Binary = Uint8Array | ArrayBuffer | string;

/** The number of characters at each end of a string that are checked: all of a path or URL, little of a large image. */
const CHECKED_LENGTH = 4096;

/** The data as base64. Throws a TypeError that names the function and says what to pass instead. */
export function toBase64(data: Binary, functionName: string): string {
  if (typeof data === 'string') return checkBase64(data, functionName);
  if (ArrayBuffer.isView(data))
    return encodeBase64(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  if (isBuffer(data)) return encodeBase64(new Uint8Array(data));
  throw new TypeError(`${functionName} needs bytes or a base64 string, not ${nameOf(data)}.`);
}

function checkBase64(text: string, functionName: string): string {
  if (/^data:/i.test(text)) return readDataUrl(text, functionName);
  const ends =
    text.length <= 2 * CHECKED_LENGTH ? text : text.slice(0, CHECKED_LENGTH) + text.slice(-CHECKED_LENGTH);
  if (/^[A-Za-z0-9+/]*={0,2}$/.test(ends) && text.length % 4 === 0) return text;
  // Base64 in lines, as commands print it. The first line break is within the first hundred characters.
  if (/\s/.test(ends) && /^[A-Za-z0-9+/\s]*[=\s]*$/.test(ends))
    return checkBase64(text.replaceAll(/\s+/g, ''), functionName);
  const start = quote(text, 40);
  throw new TypeError(
    `${functionName} needs bytes or a base64 string, and ${start} is not base64. For a file: ${functionName.replace('()', '')}(await readFile(path), …).`,
  );
}

function readDataUrl(url: string, functionName: string): string {
  const comma = url.indexOf(',');
  if (comma !== -1 && /;base64$/i.test(url.slice(0, comma)))
    return checkBase64(url.slice(comma + 1), functionName);
  throw new TypeError(`${functionName} needs bytes or a base64 string, and this data: URL is not base64.`);
}

// Also recognizes a buffer of another realm, such as a test runner's.
function isBuffer(data: unknown): data is ArrayBuffer {
  return /^\[object (Shared)?ArrayBuffer\]$/.test(Object.prototype.toString.call(data));
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (typeof (value as { then?: unknown }).then === 'function') return 'a promise: await it first';
  if (typeof (value as { arrayBuffer?: unknown }).arrayBuffer === 'function')
    return `a ${value.constructor.name}: pass await value.arrayBuffer()`;
  return Array.isArray(value) ? 'an array: pass Uint8Array.from(array)' : 'an object';
}
