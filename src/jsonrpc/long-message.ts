import type { RequestId } from './message.js';

// Finds the id of a message that is too long to read: its beginning or its end usually shows the id.

/** The facts that the ends of a message show. */
export interface Ends {
  readonly isRequest: boolean;
  readonly id: RequestId;
}

/** The number of bytes of each end that are searched. */
export const END_BYTES = 512;

// Only the message's own keys match: nothing but the first brace is before them, or nothing but the last brace after them.
const ID = String.raw`"id"\s*:\s*(\d{1,16}|"[\w.:-]{1,128}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const atHead = new RegExp(String.raw`^\s*\{\s*${VERSION}\s*,\s*${ID}\s*,\s*"(result|error|method)"`);
const kindAtHead = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?"(result|error|method)"`);
const atTail = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** Reads the id from the beginning of a message. */
export function idAtHead(head: string): Ends | undefined {
  const [, id, kind] = atHead.exec(head) ?? [];
  return id === undefined ? undefined : { isRequest: kind === 'method', id: JSON.parse(id) };
}

/** Reads the id from the end of a message. */
export function idAtTail(head: string, tail: string): Ends | undefined {
  const kind = kindAtHead.exec(head)?.[1];
  const id = kind === undefined ? undefined : atTail.exec(tail)?.[1];
  return id === undefined ? undefined : { isRequest: kind === 'method', id: JSON.parse(id) };
}
