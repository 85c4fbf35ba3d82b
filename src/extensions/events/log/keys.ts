// The places of the events of one type in the store.

import { digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';

/** The keys of the events of one type. All of them are in one group, so that one write can change them together. */
export interface LogKeys {
  readonly group: string;
  /** The entry with the number of the newest segment. */
  readonly head: string;
  /** The list of the events of a segment. */
  readonly events: (segment: number) => string;
  /** The entry that counts the room which the events of the newest segment take. */
  readonly size: (segment: number) => string;
  /** The entry with the room that each segment takes, if there is a limit for all of them. */
  readonly sizes: string;
  /** The list that has an item while events may be appended to a segment. */
  readonly open: (segment: number) => string;
  /** The entry of an event that was appended, by the id of the event. */
  readonly id: (eventId: string) => string;
}

/** The group of a type of events: a digest of fixed length, as that of a caller is. */
export async function eventGroup(server: string, name: string): Promise<string> {
  return encodeBase64Url((await digestOf(JSON.stringify([server, 'event', name]))).subarray(0, 16));
}

/** Makes the keys of the events of a group. */
export function logKeys(group: string): LogKeys {
  const numbered = (kind: string) => (segment: number) =>
    `${kind}:${group}:${String(segment).padStart(12, '0')}`;
  return {
    group,
    head: `event-head:${group}`,
    events: numbered('event-log'),
    size: numbered('event-size'),
    sizes: `event-sizes:${group}`,
    open: numbered('event-open'),
    id: (eventId) => `event-id:${group}:${eventId}`,
  };
}
