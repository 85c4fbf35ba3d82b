// The size of answers and journals.

import { McpError } from '../../protocol/errors.js';

const encoder = new TextEncoder();

/** The number of bytes that a string has in UTF-8. */
export function sizeOf(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Throws if answers are too large, before a handler sees them. `earlierBytes` is the size of earlier answers and results. */
export function checkAnswersFit(
  answers: object,
  { earlierBytes = 0, maxBytes }: { earlierBytes?: number; maxBytes: number },
): void {
  const bytes = sizeOf(JSON.stringify(answers)) + earlierBytes;
  if (bytes <= maxBytes) return;
  const subject =
    earlierBytes === 0
      ? 'The answers have'
      : 'With the answers and step results of the earlier rounds, the answers have';
  throw new McpError(
    'invalid_params',
    `params.inputResponses is too large. ${subject} ${bytes} bytes; the limit is ${maxBytes}. Send shorter answers.`,
  );
}
