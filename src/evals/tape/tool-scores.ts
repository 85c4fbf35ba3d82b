// The scores of tools as they were recorded: in the header of each tape, so that nobody has to read or judge its runs to show them.

import { Buffer } from 'node:buffer';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { ReadCase } from '../cases/case.js';
import { problemsOf } from '../cases/expectations.js';
import { offerTools } from '../model/offered-tools.js';
import { digestOf } from './digest.js';
import type { Tape, TapedRun, ToolScores } from './tape.js';
import { TapeFolder } from './tape-folder.js';

/** The last recorded score of a tool with a model. */
export interface RecordedScore {
  readonly tool: string;
  readonly model: string;
  /** The runs that passed of cases that expect the tool, and all of these runs. */
  readonly passed: number;
  readonly of: number;
  /** The day of the latest run. */
  readonly day: string;
  /** Whether the definition that the model saw is not the one of today. */
  readonly isChanged: boolean;
}

/** The scores of all tools that cases expect. */
export async function toolScores(cases: readonly ReadCase[], runs: readonly TapedRun[]): Promise<ToolScores> {
  const byName = new Map(cases.map((one) => [one.name, one]));
  const scores = new Map<string, ToolScores[string]>();
  for (const run of runs) {
    const one = byName.get(run.case);
    const tools = new Set(one?.calls?.map(({ tool }) => tool));
    if (one === undefined || tools.size === 0) continue;
    // A function of the author that throws is reported with the run; here, it has not passed.
    const hasPassed = await problemsOf(one, run).then(
      (problems) => problems.length === 0,
      () => false,
    );
    const offer = new Map(run.offer);
    for (const tool of tools) {
      const [passed, of, day, digest] = scores.get(tool) ?? [0, 0, '', ''];
      const isLater = run.day >= day;
      scores.set(tool, [
        passed + (hasPassed ? 1 : 0),
        of + 1,
        isLater ? run.day : day,
        isLater ? (offer.get(tool) ?? '') : digest,
      ]);
    }
  }
  return Object.fromEntries([...scores].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/**
 * The scores of the tools of a server in these folders, if it is the server of the tapes: one that has at least half of their tools. A tape that
 * cannot be read has none.
 */
export async function recordedScores(
  folders: readonly string[],
  tools: readonly JsonObject[],
): Promise<readonly RecordedScore[]> {
  const names = new Set(tools.map(({ name }) => name));
  const found: RecordedScore[] = [];
  for (const folder of folders)
    for (const { name: model, api, scores } of await headersIn(folder)) {
      const all = Object.entries(scores);
      const own = all.filter(([tool]) => names.has(tool));
      if (own.length === 0 || own.length * 2 < all.length) continue;
      const now = offeredNow(tools as readonly unknown[] as readonly ListedTool[], api);
      for (const [tool, [passed, of, day, digest]] of own)
        found.push({ tool, model, passed, of, day, isChanged: now.get(tool) !== digest });
    }
  return found;
}

function offeredNow(tools: readonly ListedTool[], api: Tape['api']): ReadonlyMap<string, string> {
  const call = (): never => {
    throw new Error('Tools are only compared here.');
  };
  const offered = offerTools({ tools, call }, api);
  return new Map([...offered.names.values()].map((name, at) => [name, digestOf(offered.tools[at])]));
}

type Header = Pick<Tape, 'name' | 'api' | 'scores'>;

const MAX_HEADER = 1_000_000;
const APIS: readonly unknown[] = ['anthropic', 'openai', 'openai-chat'];

async function headersIn(path: string): Promise<readonly Header[]> {
  const files = await new TapeFolder(path).files().catch(() => []);
  const lines = await Promise.all(files.map((file) => firstLine(join(path, file)).catch(() => '')));
  return lines.flatMap((line) => {
    const { fullmcp, name, api, scores } = tryParseObject(line) ?? {};
    const isHeader = fullmcp === 'evals' && typeof name === 'string' && APIS.includes(api);
    return isHeader ? [{ name, api: api as Tape['api'], scores: readScores(scores) }] : [];
  });
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER), 0, MAX_HEADER, 0);
    return buffer.subarray(0, bytesRead).toString('utf8').split('\n', 1)[0] ?? '';
  } finally {
    await file.close();
  }
}

/** The scores in a header. The file may be half merged, or of another version: what is not a score is left out. */
function readScores(value: unknown): ToolScores {
  return Object.fromEntries(Object.entries(isObject(value) ? value : {}).filter(isScore)) as ToolScores;
}

function isScore([, score]: [string, unknown]): boolean {
  if (!Array.isArray(score)) return false;
  const [passed, of, day, digest] = score;
  return (
    [passed, of].every((count) => Number.isSafeInteger(count)) &&
    typeof day === 'string' &&
    typeof digest === 'string'
  );
}
