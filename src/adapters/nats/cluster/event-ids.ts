// The ids of events: the name of the stream, the sequence in JetStream, and a part that no other event has.

/** The position that an id names. */
export interface EventPosition {
  readonly stream: string;
  readonly seq: number;
  /** Tells the event from another one with the same sequence: JetStream counts again if it lost its data. */
  readonly nonce: string;
}

const NONCE_LENGTH = 12;
const SUFFIX = /^([0-9a-z]{1,10})_([0-9a-z]{12})$/;

/** A random part for the id of an event. */
export function newNonce(): string {
  let nonce = '';
  for (const byte of crypto.getRandomValues(new Uint8Array(NONCE_LENGTH))) nonce += (byte % 36).toString(36);
  return nonce;
}

/** Prints the id of an event. */
export function eventId({ stream, seq, nonce }: EventPosition): string {
  return `${stream}-${seq.toString(36)}_${nonce}`;
}

/** Reads an id; undefined if it is not one of this log. */
export function readEventId(id: string): EventPosition | undefined {
  const dash = id.lastIndexOf('-');
  const [, seq, nonce] = SUFFIX.exec(id.slice(dash + 1)) ?? [];
  if (dash === -1 || seq === undefined || nonce === undefined) return undefined;
  return { stream: id.slice(0, dash), seq: Number.parseInt(seq, 36), nonce };
}
