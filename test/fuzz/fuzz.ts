import { readFileSync } from 'node:fs';
import fc from 'fast-check';

// Random input in addition to a corpus, bounded in count and time. `FUZZ_SEED` repeats a run, `FUZZ_RUNS` makes it longer:
// FUZZ_RUNS=100000 npx vitest run test/fuzz

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fff_ffff);
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 300);
const longestMs = numRuns > 300 ? 600_000 : 8000;

/** How long a test may take, including the corpus and the report of a failure. */
export const FUZZ_MS = longestMs + 30_000;

export const limits = { seed, numRuns, interruptAfterTimeLimit: longestMs };

/** Prints how to repeat the run. */
export function printSeed(): void {
  console.info(`FUZZ_SEED=${seed} FUZZ_RUNS=${numRuns}`);
}

export function corpus(name: string): string[] {
  const text = readFileSync(new URL(`./corpus/${name}.txt`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}

/** A string near one of the corpus: cut, doubled, or with an insertion. */
export function near(texts: readonly string[]): fc.Arbitrary<string> {
  const odd = fc.oneof(
    fc.constantFrom(
      '',
      '\0',
      '\r\n',
      '{',
      '}',
      '%',
      '%00',
      '%E0',
      '"',
      '\\',
      '\u2028',
      '\ud800',
      '../',
      '=?',
      '?=',
    ),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const nat = fc.nat({ max: 200 });
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(fc.tuple(nat, nat, odd), { maxLength: 4 }))
    .map(([text, edits]) =>
      edits.reduce((now, [at, length, put]) => {
        const from = now.length === 0 ? 0 : at % (now.length + 1);
        return now.slice(0, from) + put + now.slice(from + (length % 8));
      }, text),
    );
}

/** A JSON value near one of the corpus: some of its parts replaced, removed or renamed. */
export function nearJson(texts: readonly string[]): fc.Arbitrary<unknown> {
  const values = texts.map((text) => JSON.parse(text) as unknown);
  const part = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(null, '', 0, -1, 1e308, [], {}, true, 'x'.repeat(5000), '__proto__', {
      toString: 1,
    }),
    fc.constantFrom<unknown>(
      { constructor: { prototype: 1 } },
      [[[]]],
      '2026-07-28',
      '\u0000',
      '{name}',
      -0.5,
    ),
  );
  const edit = fc.tuple(fc.nat(), part, fc.constantFrom('replace', 'remove', 'rename', 'wrap'));
  return fc
    .tuple(fc.constantFrom(...values), fc.array(edit, { maxLength: 3 }))
    .map(([value, edits]) =>
      edits.reduce((now: unknown, [at, put, how]) => edited(now, at, put, how), value),
    );
}

function edited(value: unknown, at: number, put: unknown, how: string): unknown {
  const copy = structuredClone(value);
  const places: [container: Record<string, unknown>, key: string][] = [];
  collect(copy, places);
  if (places.length === 0) return put;
  const [container, key] = places[at % places.length] as (typeof places)[number];
  if (how === 'replace') container[key] = put;
  else if (how === 'wrap') container[key] = [container[key]];
  else {
    if (how === 'rename') container[`${key}x`] = container[key];
    delete container[key];
  }
  return copy;
}

function collect(value: unknown, places: [Record<string, unknown>, string][]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    places.push([value as Record<string, unknown>, key]);
    collect((value as Record<string, unknown>)[key], places);
  }
}
