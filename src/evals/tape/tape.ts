// Tapes: the conversations with a model, as they are committed. A header, then a line of JSON for each offer of tools and for each run, sorted,
// so that changes can be read and merged. Requests are kept as digests, which is enough to notice that one would differ.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { Secrets } from '../../testing/recording/secrets.js';
import type { EvalTranscript } from '../cases/transcript.js';
import type { ModelTarget } from '../model/target.js';
import { digestOf } from './digest.js';

const HEADER = { fullmcp: 'evals', version: 1 } as const;
/** Grows when the same case would lead to other requests. */
export const LOOP = 1;

/** A tool as it was offered: its name at the server, and the digest of its definition as it was sent. */
export type OfferedTool = readonly [name: string, digest: string];

/** The parts of the requests of a run, as digests. */
export interface AskedParts {
  /** The request of the user, with the answers to questions and the criterion of the judge. */
  readonly ask: string;
  readonly system: string;
  /** The fields of the request that belong to the model. */
  readonly settings: string;
  readonly offer: readonly OfferedTool[];
}

/** A recorded run. */
export interface TapedRun extends AskedParts, EvalTranscript {
  readonly case: string;
  readonly run: number;
  /** The day of the recording. */
  readonly day: string;
}

/** The tape of one model. */
export interface Tape {
  readonly name: string;
  readonly api: ModelTarget['api'];
  readonly model: string;
  readonly loop: number;
  readonly scores: ToolScores;
  readonly runs: readonly TapedRun[];
}

/** The scores of tools: of the runs of cases that expect one, those that passed and all; the day and the definition of the latest. */
export type ToolScores = Readonly<
  Record<string, readonly [passed: number, of: number, day: string, digest: string]>
>;

/** The digests of the fields that belong to a model. The address, the key, limits of time and prices change no request. */
export function settingsOf({ api, model, maxTokens, fields }: ModelTarget): string {
  return digestOf([api, model, maxTokens, fields]);
}

/** The text of a tape, without secrets. */
export function printTape(
  { name, api, model, scores, runs }: Omit<Tape, 'loop'>,
  secrets: readonly string[],
): string {
  const header = { ...HEADER, loop: LOOP, name, api, model, scores };
  const offers = new Map(runs.map(({ offer }) => [digestOf(offer), offer]));
  const sorted = [...runs].sort((one, other) => compare(one.case, other.case) || one.run - other.run);
  return [
    header,
    ...[...offers].sort(([one], [other]) => compare(one, other)).map(([id, tools]) => ({ offer: id, tools })),
    ...sorted.map((run) => ({ ...withoutSecrets(run, secrets), offer: digestOf(run.offer) })),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}

/** A run as it is kept. Names of cases and digests have no secrets; replies and results may. */
export function withoutSecrets(run: TapedRun, secrets: readonly string[]): TapedRun {
  const hidden = new Secrets([], secrets);
  const rounds = run.rounds.map((round) => ({
    ...round,
    say: hidden.without(round.say),
    calls: hidden.without(round.calls),
  }));
  return { ...run, rounds, ...(run.judged && { judged: hidden.without(run.judged) }) };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Reads a tape. Throws a `TypeError` that names the first line that cannot be read. */
export function readTape(text: string): Omit<Tape, 'scores'> {
  const [first = '', ...lines] = text.split('\n');
  const header = tryParseObject(first) ?? {};
  const { name, api, model, loop } = header;
  if (
    header['fullmcp'] !== HEADER.fullmcp ||
    header['version'] !== HEADER.version ||
    typeof name !== 'string'
  )
    throw new TypeError('Line 1 is not the header of a tape of evals.');
  const offers = new Map<unknown, readonly OfferedTool[]>();
  const runs: TapedRun[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const entry = tryParseObject(line) ?? {};
    if (typeof entry['case'] === 'string') runs.push(readRun(entry, offers, at + 2));
    else if (Array.isArray(entry['tools'])) offers.set(entry['offer'], entry['tools'] as OfferedTool[]);
    else throw new TypeError(`Line ${at + 2} is neither an offer nor a run. Is the file half merged?`);
  }
  return { name, api: api as Tape['api'], model: String(model), loop: Number(loop), runs };
}

function readRun(
  entry: JsonObject,
  offers: ReadonlyMap<unknown, readonly OfferedTool[]>,
  line: number,
): TapedRun {
  const { rounds, asked, unanswered, offer } = entry;
  const isRead =
    Array.isArray(rounds) &&
    rounds.every(
      (round) => isObject(round) && typeof round['say'] === 'string' && areCalls(round['calls']),
    ) &&
    Array.isArray(asked) &&
    Array.isArray(unanswered) &&
    offers.has(offer);
  if (!isRead) throw new TypeError(`Line ${line} is not a recorded run.`);
  return { ...(entry as unknown as TapedRun), offer: offers.get(offer) as readonly OfferedTool[] };
}

function areCalls(calls: unknown): boolean {
  return Array.isArray(calls) && calls.every((one) => isObject(one) && typeof one['tool'] === 'string');
}
