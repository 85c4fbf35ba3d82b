import type { VNode } from 'preact';
import { cleanLine } from '../../src/tooling/clean.js';
import type { ReadOutcome } from './read-outcome.js';

const SHORT = 200;

/** Shows the text content of the run before, if it was different. Structured data has its own marks. */
export function TextDifference({
  now,
  before,
  name,
}: {
  readonly now: ReadOutcome;
  readonly before: ReadOutcome;
  readonly name: string;
}): VNode | null {
  const [text, last] = [textOf(now), textOf(before)];
  if (text === undefined || last === undefined || text === last) return null;
  return (
    <p>
      <span class="json-mark results-was">
        {last.length <= SHORT ? `was ${cleanLine(last, SHORT)} (${name})` : `different from ${name}`}
      </span>
    </p>
  );
}

/** The text of a result that is nothing but text. */
function textOf({ structured, value }: ReadOutcome): string | undefined {
  if (structured !== undefined || value.length === 0) return undefined;
  const texts = value.map(({ content }) => content['text']);
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : undefined;
}
