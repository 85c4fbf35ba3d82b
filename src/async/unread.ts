/**
 * Whether a peer leaves more than `maxBytes` unread. `buffered` is measured before a message is written: a single large message
 * does not mean that the peer has stopped reading.
 */
export function isBehind(buffered: number, maxBytes: number): boolean {
  return buffered > maxBytes;
}
