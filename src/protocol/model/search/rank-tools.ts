// Ranks tools by the function of the option `search.rank`.

import { settlesWithin } from '../../../async/deadline.js';
import type { ListedTool } from '../model.js';
import type { RankRequest, SearchSettings } from './options.js';

/** The most tools that are found by words for a ranking. */
export const MAX_FOUND = 50;

/** The tools in the order of the ranking; undefined if there is no function, or if it fails, which is logged. */
export async function rankTools(
  request: RankRequest,
  { rank, rankTimeoutMs }: SearchSettings,
  warn: (message: string, cause?: unknown) => void,
): Promise<readonly ListedTool[] | undefined> {
  if (rank === undefined) return undefined;
  try {
    const ranking = Promise.resolve(rank(request));
    if (!(await settlesWithin(ranking, rankTimeoutMs))) {
      warn(`"search.rank" took longer than ${rankTimeoutMs} ms; tools were found by their words`);
      return undefined;
    }
    const names: unknown = await ranking;
    if (!Array.isArray(names)) throw new TypeError('It must return an array of names.');
    const visible = new Map(request.tools.map((tool) => [tool.name, tool]));
    return [...new Set(names)].flatMap((name) => visible.get(name) ?? []);
  } catch (error) {
    warn('"search.rank" failed; tools were found by their words', error);
    return undefined;
  }
}
