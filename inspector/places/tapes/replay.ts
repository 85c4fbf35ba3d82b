// Which calls of a tape may change something, and what came of making them again.

import type { CatalogView } from '../../../src/inspector/contract/connection.js';
import type { TapeReplayView, TapeView } from '../../../src/inspector/contract/tape.js';

/** The tools of a tape that are not known to be read-only: each needs the user's word. */
export function riskyTools({ calls }: TapeView, catalog: CatalogView | undefined): readonly string[] {
  const readOnly = new Set(catalog?.tools.filter((each) => each.isReadOnly).map((each) => each.tool.name));
  const names = calls.flatMap(({ method, name }) =>
    method === 'tools/call' && name !== undefined ? [name] : [],
  );
  return [...new Set(names)].filter((name) => !readOnly.has(name));
}

/** How many calls came out the same, differently, and not at all. */
export function counts({
  calls,
}: TapeReplayView): Readonly<Record<'same' | 'different' | 'skipped', number>> {
  const found = { same: 0, different: 0, skipped: 0 };
  for (const { result } of calls) found[result] += 1;
  return found;
}

const MAX_TAPE_BYTES = 32_000_000;

/** Why a file cannot be a tape, before it is read. */
export function fileProblem({
  name,
  size,
}: {
  readonly name: string;
  readonly size: number;
}): string | undefined {
  if (size === 0) return `${name} is empty.`;
  if (size > MAX_TAPE_BYTES)
    return `${name} has ${Math.round(size / 1_000_000)} MB. A tape may have ${MAX_TAPE_BYTES / 1_000_000} MB.`;
  return undefined;
}
