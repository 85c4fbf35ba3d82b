// The header `Accept`. RFC 9110, 12.5.1.

const MAX_CHARS = 2000;

/** The media type that a client prefers; the first of those that it likes equally, or of all if it accepts none. */
export function preferred<T extends { readonly type: string }>(
  choices: readonly [T, ...T[]],
  accept: string | undefined,
): T {
  if (accept === undefined || accept.length > MAX_CHARS) return choices[0];
  const ranges = accept.split(',').map(readRange);
  let best: T = choices[0];
  let bestQuality = 0;
  for (const choice of choices) {
    const quality = qualityOf(essenceOf(choice.type), ranges);
    if (quality > bestQuality) [best, bestQuality] = [choice, quality];
  }
  return best;
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
}

function readRange(text: string): MediaRange {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const written = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = written === undefined ? 1 : Number(written.slice(2));
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 };
}

/** The most specific range that matches decides. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  for (const pattern of [type, `${type.slice(0, type.indexOf('/'))}/*`, '*/*']) {
    const range = ranges.find((candidate) => candidate.type === pattern);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

function essenceOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').toLowerCase();
}
