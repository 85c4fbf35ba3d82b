// Which calls of a tape may change something, and what came of making them again.

import type { CatalogView } from '../../../src/inspector/contract/connection.js';
import type { TapeReplayView, TapeView } from '../../../src/inspector/contract/tape.js';
import { calledTools } from '../../../src/protocol/model/search/search-tools.js';

/** The tools of a tape that are not known to be read-only: each needs the user's word. */
export function riskyTools({ calls }: TapeView, catalog: CatalogView | undefined): readonly string[] {
  const tools = new Map(catalog?.tools.map(({ tool, isReadOnly }) => [tool.name, isReadOnly]));
  const names = calls.flatMap(({ method, params }) =>
    method === 'tools/call' ? calledTools(params, tools) : [],
  );
  return [...new Set(names)].filter((name) => tools.get(name) !== true);
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
