/**
 * Whether a server leaves so much unread that it is disconnected. `buffered` is measured before a message is sent: a single
 * large message does not mean that the server has stopped reading.
 */
export function isBehind(buffered: number, maxBytes: number): boolean {
  return buffered > maxBytes;
}
