import type { Outcome } from '../../protocol/call.js';

/**
 * The outcome with structured content of its own, as JSON carries it. Without this a client in the same process would hold the
 * server's objects, could change them, and would see dates and class instances that no other transport carries.
 */
export function detach(outcome: Outcome): Outcome {
  const { structuredContent } = outcome;
  if (typeof structuredContent !== 'object' || structuredContent === null) return outcome;
  return { ...outcome, structuredContent: JSON.parse(JSON.stringify(structuredContent)) };
}
