import type { Outcome } from '../../protocol/call.js';

/**
 * Copies the structured content of an outcome through JSON. Without this a client in the same process would have the server's
 * own objects, could change them, and would see dates and class instances that no other transport carries.
 */
export function detach(outcome: Outcome): Outcome {
  const { structuredContent } = outcome;
  if (typeof structuredContent !== 'object' || structuredContent === null) return outcome;
  return { ...outcome, structuredContent: JSON.parse(JSON.stringify(structuredContent)) };
}
