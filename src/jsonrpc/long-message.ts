import type { RequestId } from './message.js';

// A message that is too long to be read still has two ends, and one of them mostly shows its id.

/** The facts about a message that its ends show. */
export interface Ends {
  readonly isRequest: boolean;
  readonly id: RequestId;
}

/** How many bytes of each end are looked at. */
export const END_BYTES = 512;

// Only keys of the message itself can stand there: before them is nothing but its first brace, and after them nothing but its last.
const ID = String.raw`"id"\s*:\s*(\d{1,16}|"[\w.:-]{1,128}")`;
const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const atHead = new RegExp(String.raw`^\s*\{\s*${VERSION}\s*,\s*${ID}\s*,\s*"(result|error|method)"`);
const kindAtHead = new RegExp(String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?"(result|error|method)"`);
const atTail = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`);

/** The id of a message whose beginning has it. */
export function idAtHead(head: string): Ends | undefined {
  const [, id, kind] = atHead.exec(head) ?? [];
  return id === undefined ? undefined : { isRequest: kind === 'method', id: JSON.parse(id) };
}

/** The id of a message whose end has it. */
export function idAtTail(head: string, tail: string): Ends | undefined {
  const kind = kindAtHead.exec(head)?.[1];
  const id = kind === undefined ? undefined : atTail.exec(tail)?.[1];
  return id === undefined ? undefined : { isRequest: kind === 'method', id: JSON.parse(id) };
}
