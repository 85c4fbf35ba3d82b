// The secret of servers in tests.

/** A secret for a server that lives as long as its test. */
export function ownSecret(): string {
  return `${crypto.randomUUID()}${crypto.randomUUID()}`;
}
