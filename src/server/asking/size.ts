import { McpError } from '../../protocol/errors.js';

const encoder = new TextEncoder();

/** How many bytes a text has. */
export function sizeOf(text: string): number {
  return encoder.encode(text).byteLength;
}

/** Refuses answers that are too large to be kept, before a handler sees them. `kept` is what earlier answers and steps have. */
export function checkAnswersFit(
  answers: object,
  { earlierBytes: kept = 0, maxBytes }: { earlierBytes?: number; maxBytes: number },
): void {
  const bytes = sizeOf(JSON.stringify(answers)) + kept;
  if (bytes <= maxBytes) return;
  const what =
    kept === 0
      ? 'The answers have'
      : 'With the answers and step results of the earlier rounds, the answers have';
  throw new McpError(
    'invalid_params',
    `params.inputResponses is too large. ${what} ${bytes} bytes, and at most ${maxBytes} are kept. Answer with less.`,
  );
}
