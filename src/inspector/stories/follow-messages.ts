// Makes rounds, ticks and the state of a task of the messages of a story.

import { Buffer } from 'node:buffer';
import { isObject } from '../../jsonrpc/message.js';
import { cleanLine } from '../../tooling/clean.js';
import type { SeenMessage } from '../wiretap/seen.js';
import { readTask } from './read-task.js';
import type { OpenRound, StoryRecord } from './story-record.js';

/** Requests about a task are not rounds of the call: polls are counted. */
const OF_TASKS = /^tasks\//;

const MAX_WORDS = 200;
/** A line of the timeline needs no more than the beginning of what may be megabytes. */
const MAX_LOOKED_AT = 20_000;

/** Replaces the secrets of a connection in a string. */
type Mask = (text: string) => string;

/** The words of a log message or of progress, on one line and without secrets; undefined for other messages. */
export function wordsOf({ method, params = {} }: SeenMessage, mask: Mask): string | undefined {
  if (method === 'notifications/message') return shown(logWords(params), MAX_WORDS, mask);
  return method === 'notifications/progress' ? progressWords(params, mask) : undefined;
}

/** Text on one line. Secrets are masked before it is cut: a part of one would not be found. */
function shown(text: string, limit: number, mask: Mask): string {
  return cleanLine(mask(text.slice(0, MAX_LOOKED_AT)), limit);
}

/** The number of a message, and what its words are masked with. */
export interface Following {
  readonly seq: number;
  readonly mask: Mask;
}

/** Adds a message to its story. */
export function follow(story: StoryRecord, seen: SeenMessage, following: Following): void {
  const { seq } = following;
  story.sawMessage(seq, seen);
  if (seen.from === 'client') followClient(story, seen, seq);
  else if (seen.kind === 'response' || seen.kind === 'error') followResponse(story, seen, following);
  else if (seen.kind === 'notification') followNotification(story, seen, following);
  else if (seen.kind === 'unreadable')
    story.tick({ at: seen.at, kind: 'notification', text: 'a message that cannot be read', message: seq });
}

function followClient(
  story: StoryRecord,
  { kind, method = '', params, at, bytes, http }: SeenMessage,
  seq: number,
): void {
  if (kind !== 'request') return;
  if (OF_TASKS.test(method)) {
    if (method === 'tasks/get' && story.task)
      story.task = { ...story.task, polls: story.task.polls + 1, lastPoll: at };
    return;
  }
  const before = story.rounds.at(-1);
  const isRetry =
    before?.outcome === undefined &&
    before !== undefined &&
    story.kind !== 'connect' &&
    story.kind !== 'list';
  const state = params?.['requestState'];
  if (isRetry && before !== undefined) {
    before.ms ??= at - before.at;
    before.outcome = 'error';
  }
  story.addRound({
    at,
    request: seq,
    bytesOut: bytes,
    ...(typeof state === 'string' && { stateBytes: Buffer.byteLength(state) }),
    ...(http && { http }),
    ...(isRetry && { isRetry }),
  });
}

function followResponse(story: StoryRecord, seen: SeenMessage, following: Following): void {
  const { kind, result, bytes, answers } = seen;
  if (result !== undefined) {
    takeCalls(story, result, following.mask);
    followTask(story, seen, following);
  }
  const round = story.rounds.find(({ request }) => request !== undefined && request === answers?.seq);
  if (round === undefined || answers === undefined) return;
  round.ms = answers.ms;
  round.response = following.seq;
  round.bytesIn = bytes;
  round.outcome = outcomeOf(kind, result);
  const state = result?.['requestState'];
  if (typeof state === 'string') round.stateBytes = Buffer.byteLength(state);
}

/** A poll is a tick only if it tells something new: most polls tell the same again. */
function followTask(story: StoryRecord, { result = {}, at }: SeenMessage, { seq, mask }: Following): void {
  const { task: before, progress: last } = story;
  story.task = readTask(result, before, mask) ?? before;
  const reported = isObject(result['_meta']) ? result['_meta']['fullmcp/progress'] : undefined;
  const text = isObject(reported) ? takeProgress(story, reported, mask) : undefined;
  if (before === undefined || story.task === undefined) return;
  const { statusMessage } = story.task;
  if (text !== undefined) {
    const { progress, message } = story.progress ?? {};
    if (progress !== last?.progress || message !== last?.message)
      story.tick({ at, kind: 'progress', text, message: seq });
  } else if (statusMessage !== undefined && statusMessage !== before.statusMessage) {
    story.tick({ at, kind: 'status', text: cleanLine(statusMessage, 200), message: seq });
  }
}

function outcomeOf(
  kind: SeenMessage['kind'],
  result: SeenMessage['result'],
): NonNullable<OpenRound['outcome']> {
  if (kind === 'error') return 'error';
  if (result?.['resultType'] === 'input_required') return 'asks';
  return result?.['resultType'] === 'task' || isObject(result?.['task']) ? 'task' : 'ok';
}

function followNotification(
  story: StoryRecord,
  { method = '', params = {}, at }: SeenMessage,
  { seq, mask }: Following,
): void {
  switch (method) {
    case 'notifications/progress': {
      const text = takeProgress(story, params, mask);
      story.tick({ at, kind: 'progress', text, message: seq });
      return;
    }
    case 'notifications/message': {
      const { level } = params;
      story.tick({
        at,
        kind: 'log',
        text: shown(logWords(params), 300, mask),
        ...(typeof level === 'string' && { level: level.slice(0, 20) }),
        message: seq,
      });
      return;
    }
    case 'notifications/tasks':
    case 'notifications/tasks/status': {
      story.task = readTask(params, story.task, mask) ?? story.task;
      const { statusMessage, status } = params;
      story.tick({
        at,
        kind: 'status',
        text: shown(String(statusMessage ?? status ?? ''), 200, mask),
        message: seq,
      });
      return;
    }
    default: {
      const { uri } = params;
      const isChange = method.endsWith('/list_changed') || method.endsWith('/updated');
      const what = typeof uri === 'string' ? uri : method.replace('notifications/', '');
      story.tick({
        at,
        kind: isChange ? 'changed' : 'notification',
        text: shown(isChange && typeof uri === 'string' ? `${what} changed` : what, 300, mask),
        message: seq,
      });
    }
  }
}

/** Takes the calls of a program in a result, in the result of its task, or in its progress. */
function takeCalls({ program }: StoryRecord, from: Record<string, unknown>, mask: Mask): void {
  program?.take(from, mask);
  if (isObject(from['result'])) program?.take(from['result'], mask);
}

/** Takes over the progress, and returns it for people. */
function takeProgress(story: StoryRecord, params: Record<string, unknown>, mask: Mask): string {
  takeCalls(story, params, mask);
  const { progress, total, message } = params;
  if (typeof progress === 'number')
    story.progress = {
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: shown(message, MAX_WORDS, mask) }),
    };
  return progressWords(params, mask);
}

function progressWords({ progress, total, message }: Record<string, unknown>, mask: Mask): string {
  if (typeof progress !== 'number') return 'progress that cannot be read';
  const count = typeof total === 'number' ? `${progress} of ${total}` : String(progress);
  return typeof message === 'string' ? `${count}: ${shown(message, MAX_WORDS, mask)}` : count;
}

function logWords({ data }: Record<string, unknown>): string {
  return typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
}
