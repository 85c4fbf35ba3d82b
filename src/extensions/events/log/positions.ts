// Positions in the events of one type, and the cursors that clients keep of them.

/** A place between two events. The events of a type are kept in segments, which are filled one after the other. */
export interface LogPosition {
  readonly segment: number;
  /** The position of the last event before this place in its segment; 0 if there is none. */
  readonly at: number;
  /** The room of the segment that the events before this place take. It shows whether events after it are gone. */
  readonly used: number;
}

/** Which of two positions comes first: negative if `a` does. */
export function comparePositions(a: LogPosition, b: LogPosition): number {
  return a.segment - b.segment || a.at - b.at;
}

const TAG = 10;
const CURSOR = /^([\w-]{10})\.([0-9a-z]{1,11})\.([0-9a-z]{1,11})\.([0-9a-z]{1,4})$/;

/** Writes a position as a cursor. Other types of events, and other servers, do not accept it. */
export function cursorOf(group: string, { segment, at, used }: LogPosition): string {
  return [group.slice(0, TAG), ...[segment, at, used].map((number) => number.toString(36))].join('.');
}

/** Reads a cursor; undefined if it belongs to another type of events, or is not one. */
export function positionOf(group: string, cursor: string): LogPosition | undefined {
  const [, tag, ...numbers] = CURSOR.exec(cursor) ?? [];
  if (tag !== group.slice(0, TAG)) return undefined;
  const [segment = 0, at = 0, used = 0] = numbers.map((digits) => Number.parseInt(digits, 36));
  return Number.isSafeInteger(segment) && Number.isSafeInteger(at) ? { segment, at, used } : undefined;
}
