// The words of the timeline about a story: its state, its outcome and what the user answered, in words.

import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { cleanLine } from '../../../src/tooling/clean.js';

const MAX_WORDS = 120;

export type StateTone = 'running' | 'ask' | 'open' | 'ok' | 'err' | 'off';

export interface StateWords {
  readonly word: string;
  readonly tone: StateTone;
}

/** The state of a story as a word; its tone chooses the shape and the colour that go with it. */
export function stateOf({ state }: Pick<Story, 'state'>): StateWords {
  switch (state) {
    case 'running':
      return { word: 'running', tone: 'running' };
    case 'asks':
      return { word: 'asks', tone: 'ask' };
    case 'open':
      return { word: 'open', tone: 'open' };
    case 'ok':
      return { word: 'ok', tone: 'ok' };
    case 'tool-error':
      return { word: 'tool error', tone: 'err' };
    case 'error':
      return { word: 'error', tone: 'err' };
    case 'cancelled':
      return { word: 'cancelled', tone: 'off' };
    default:
      return state satisfies never;
  }
}

/** The time that the user took so far: what overlaps is counted once. */
export function yourTime({ questions }: Pick<Story, 'questions'>, now: number): number {
  let until = 0;
  let sum = 0;
  for (const { at, answeredAt, gone } of [...questions].sort((a, b) => a.at - b.at)) {
    const end = answeredAt ?? (gone === undefined ? now : at);
    sum += Math.max(0, end - Math.max(at, until));
    until = Math.max(until, end);
  }
  return sum;
}

// A row is drawn often, a story changes seldom.
const outcomes = new WeakMap<object, string>();

/** The outcome of a story in a few words: its error, or its first text. */
export function outcomeWords(story: Pick<Story, 'error' | 'outcome' | 'state'>): string {
  let words = outcomes.get(story);
  if (words === undefined) {
    words = readOutcome(story);
    outcomes.set(story, words);
  }
  return words;
}

function readOutcome({ error, outcome, state }: Pick<Story, 'error' | 'outcome' | 'state'>): string {
  if (error) return cleanLine(error.message, MAX_WORDS);
  if (state === 'cancelled' || !outcome) return '';
  const text = firstText(outcome['content']) ?? firstText(outcome['contents']);
  if (text !== undefined) return cleanLine(text, MAX_WORDS);
  if (outcome['structuredContent'] !== undefined) return shortJson(outcome['structuredContent']);
  for (const list of [
    'tools',
    'resources',
    'resourceTemplates',
    'prompts',
    'messages',
    'contents',
    'content',
  ]) {
    const items = outcome[list];
    if (Array.isArray(items)) return `${items.length} ${NOUNS[list]?.[items.length === 1 ? 0 : 1] ?? list}`;
  }
  return '';
}

const NOUNS: Readonly<Record<string, readonly [string, string]>> = {
  tools: ['tool', 'tools'],
  resources: ['resource', 'resources'],
  resourceTemplates: ['template', 'templates'],
  prompts: ['prompt', 'prompts'],
  messages: ['message', 'messages'],
  contents: ['content', 'contents'],
  content: ['content', 'contents'],
};

/** An answer in a few words, as in `size large · toppings ham`. */
export function answerWords({ answer, kind }: Pick<QuestionView, 'answer' | 'kind'>): string {
  if (!answer) return '';
  if (kind === 'roots') {
    const roots = answer['roots'];
    return Array.isArray(roots) ? `${roots.length} ${roots.length === 1 ? 'root' : 'roots'}` : 'roots';
  }
  if (kind === 'sampling') return samplingWords(answer);
  const { action, content } = answer;
  if (action === 'decline') return 'declined';
  if (action === 'cancel') return 'dismissed';
  if (kind === 'url') return 'opened';
  if (!isObject(content)) return 'accepted';
  const parts = Object.entries(content).map(
    ([key, value]) => `${cleanLine(key, 40)} ${shortJson(value, 40)}`,
  );
  return parts.length === 0 ? 'accepted' : cleanLine(parts.join(' · '), MAX_WORDS);
}

function samplingWords(answer: JsonObject): string {
  const { content, error } = answer;
  if (isObject(error)) return 'refused';
  const text = firstText(Array.isArray(content) ? content : [content]);
  return text === undefined ? 'replied' : `replied: ${cleanLine(text, 80)}`;
}

/** A value as short JSON; strings without quotes, arrays of plain values as `a, b`. */
function shortJson(value: unknown, limit: number = MAX_WORDS): string {
  if (typeof value === 'string') return cleanLine(value, limit);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && value.length <= 20 && value.every((each) => typeof each !== 'object'))
    return cleanLine(value.map(String).join(', '), limit);
  return cleanLine(JSON.stringify(value) ?? '', limit);
}

function firstText(content: unknown): string | undefined {
  if (!Array.isArray(content)) return undefined;
  for (const item of content.slice(0, 20))
    if (isObject(item) && typeof item['text'] === 'string') return item['text'];
  return undefined;
}
