// A call as the history keeps it: without secrets, within bounds, and without its messages.

import { randomBytes } from 'node:crypto';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { copyWithoutSecrets } from '../../protocol/secrets/copy.js';
import { lacksSecret, Secrets } from '../../testing/recording/secrets.js';
import type { Failure } from '../contract/failure.js';
import type { EarlierFacts, EarlierLack, OutputVerdict, QuestionView, Story } from '../contract/story.js';

const KINDS = ['tool', 'read', 'prompt', 'request'] as const;
const STATES = ['ok', 'tool-error', 'error', 'cancelled'] as const;
const QUESTION_KINDS = ['form', 'url', 'sampling', 'roots'] as const;
const LACKS = ['secrets', 'arguments', 'result'] as const satisfies readonly EarlierLack[];

type KeptQuestion = Pick<
  QuestionView,
  'key' | 'round' | 'kind' | 'at' | 'answeredAt' | 'message' | 'answer' | 'gone'
>;

export interface KeptRun {
  /** Unique in the file. */
  readonly id: string;
  /** The name of the server that was called. */
  readonly server: string;
  readonly kind: (typeof KINDS)[number];
  readonly title: string;
  readonly method: string;
  readonly args?: JsonObject;
  readonly at: number;
  readonly endedAt: number;
  readonly youMs: number;
  readonly state: (typeof STATES)[number];
  readonly isTask?: boolean;
  readonly questions: readonly KeptQuestion[];
  readonly outcome?: JsonObject;
  readonly outcomeBytes?: number;
  readonly error?: Pick<Failure, 'code' | 'message' | 'advice' | 'number'>;
  readonly outputCheck?: OutputVerdict;
  readonly facts: EarlierFacts;
}

/** The most characters of one call in the file. */
export const MAX_RUN: number = 64 * 1024;
/** Secrets of a larger result could not be removed in reasonable time, so that only its size is kept. */
const MAX_READ = 512 * 1024;
const MAX_QUESTIONS = 20;
const MAX_TEXT = 2000;

/** Parts of a value beyond these limits are left out, each with a mark in its place. Secrets have been removed before. */
const cut = copyWithoutSecrets({
  isSecretName: () => false,
  hide: (value) => value,
  text: (text) => text,
  readsJson: false,
  limits: { maxString: 16_000, maxDepth: 60, maxChars: 40_000 },
});

/** The facts about a call that its story does not have. */
export interface RunFacts {
  readonly server: string;
  readonly revision: string | undefined;
  /** The whole outcome as JSON, before anything was masked in it. */
  readonly outcome: string | undefined;
  /** The definition of the tool, whose schemas mark secrets. */
  readonly definition: unknown;
}

/** Makes the runs of one connection. A secret of one call is not in later ones either. */
export class RunWriter {
  readonly #secrets: Secrets;

  /** `values` are secrets wherever they appear. */
  constructor(values: readonly string[]) {
    this.#secrets = new Secrets([], values);
  }

  /** Adds a value that is a secret. */
  learn(value: string): void {
    this.#secrets.addValue(value);
  }

  /** The run of a story that is over; undefined if stories of its kind are not kept. */
  run(story: Story, facts: RunFacts): KeptRun | undefined {
    const { endedAt, state, kind } = story;
    if (endedAt === undefined || !isOneOf(KINDS, kind) || !isOneOf(STATES, state)) return undefined;
    this.#secrets.learnFrom([facts.definition, story.questions.map(({ schema }) => schema)]);
    // All at once: a secret of one part is looked for in all others.
    const {
      args = {},
      title,
      questions,
      error,
      outputCheck,
      outcome: safe,
    } = this.#secrets.without({
      args: story.args,
      title: story.title,
      questions: story.questions.slice(-MAX_QUESTIONS).map(keptQuestion),
      error: story.error && keptError(story.error),
      outputCheck: story.outputCheck,
      outcome: readOutcome(facts.outcome),
    });
    const outcome = safe && (cut(safe) as JsonObject);
    const isCut = facts.outcome !== undefined && JSON.stringify(outcome) !== JSON.stringify(safe ?? null);
    const hasArguments = story.args !== undefined || kind === 'tool';
    const lacks: EarlierLack[] = [
      ...(lacksSecret([args, title]) ? (['secrets'] as const) : []),
      ...(hasArguments ? [] : (['arguments'] as const)),
      ...(isCut ? (['result'] as const) : []),
    ];
    return bounded({
      id: randomBytes(9).toString('base64url'),
      server: facts.server,
      ...{ kind, title, method: story.method, args, at: story.at, endedAt, youMs: story.youMs, state },
      ...(story.task && { isTask: true }),
      questions,
      ...(outcome && { outcome }),
      ...(story.outcomeBytes !== undefined && { outcomeBytes: story.outcomeBytes }),
      ...(error && { error }),
      ...(outputCheck && { outputCheck }),
      facts: { ...(facts.revision !== undefined && { revision: facts.revision }), lacks },
    });
  }
}

/** The whole outcome; undefined if there is none, or if its secrets could not be removed in reasonable time. */
function readOutcome(text: string | undefined): JsonObject | undefined {
  return text === undefined || text.length > MAX_READ ? undefined : tryParseObject(text);
}

/** Leaves out the largest parts of a run that is too long. Escaped characters take more room than the limits of a value count. */
function bounded(run: KeptRun): KeptRun {
  const isTooLong = (one: KeptRun): boolean => JSON.stringify(one).length > MAX_RUN;
  const without = (one: KeptRun, lack: EarlierLack): EarlierFacts => ({
    ...one.facts,
    lacks: [...new Set([...one.facts.lacks, lack])],
  });
  if (!isTooLong(run)) return run;
  const { outcome: _, ...short } = run;
  const plain: KeptRun = { ...short, facts: without(run, 'result') };
  if (!isTooLong(plain)) return plain;
  const { args: __, ...shorter } = plain;
  const least: KeptRun = { ...shorter, facts: without(plain, 'arguments') };
  return isTooLong(least) ? { ...least, questions: [] } : least;
}

function keptQuestion({
  key,
  round,
  kind,
  at,
  answeredAt,
  message,
  answer,
  gone,
}: QuestionView): KeptQuestion {
  return {
    ...{ round, kind, at, message: message.slice(0, MAX_TEXT) },
    ...(key !== undefined && { key }),
    ...(answeredAt !== undefined && { answeredAt }),
    ...(answer && { answer }),
    ...(gone !== undefined && { gone: gone.slice(0, MAX_TEXT) }),
  };
}

function keptError({ code, message, advice, number }: Failure): KeptRun['error'] {
  return {
    ...{ code, message: message.slice(0, MAX_TEXT) },
    ...(advice !== undefined && { advice: advice.slice(0, MAX_TEXT) }),
    ...(number !== undefined && { number }),
  };
}

/** Reads a line of the file; undefined if it is not a run. Somebody may have changed the file. */
export function readRun(line: string): KeptRun | undefined {
  const value = line.length > MAX_RUN ? undefined : tryParseObject(line);
  if (value === undefined) return undefined;
  const { id, server, kind, title, method, state, questions, facts, error, outputCheck } = value;
  const isRun =
    [id, server, title, method].every((text) => typeof text === 'string') &&
    [value['at'], value['endedAt'], value['youMs']].every(isAmount) &&
    isOneOf(KINDS, kind) &&
    isOneOf(STATES, state) &&
    [value['args'], value['outcome']].every((one) => one === undefined || isObject(one)) &&
    [value['outcomeBytes']].every((one) => one === undefined || isAmount(one)) &&
    Array.isArray(questions) &&
    questions.every(isQuestion) &&
    isFacts(facts) &&
    (error === undefined || isError(error)) &&
    (outputCheck === undefined || isVerdict(outputCheck));
  return isRun ? (value as unknown as KeptRun) : undefined;
}

function isQuestion(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { key, round, kind, at, answeredAt, message, answer, gone } = value;
  return (
    isOneOf(QUESTION_KINDS, kind) &&
    [round, at].every(isAmount) &&
    (answeredAt === undefined || isAmount(answeredAt)) &&
    typeof message === 'string' &&
    [key, gone].every(isTextIfGiven) &&
    (answer === undefined || isObject(answer))
  );
}

function isFacts(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value['lacks'])) return false;
  return isTextIfGiven(value['revision']) && value['lacks'].every((lack: unknown) => isOneOf(LACKS, lack));
}

function isError(value: unknown): boolean {
  if (!isObject(value) || typeof value['code'] !== 'string' || typeof value['message'] !== 'string')
    return false;
  return isTextIfGiven(value['advice']) && ['number', 'undefined'].includes(typeof value['number']);
}

function isVerdict(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { result, path, message, reason } = value;
  if (result === 'differs') return typeof path === 'string' && typeof message === 'string';
  return result === 'fits' || (result === 'unchecked' && typeof reason === 'string');
}

/** A time or a size: a number that dates and lengths can have. */
function isAmount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 8.64e15;
}

function isTextIfGiven(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isOneOf<T extends string>(all: readonly T[], value: unknown): value is T {
  return (all as readonly unknown[]).includes(value);
}
