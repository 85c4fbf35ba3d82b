// The answers that the user has typed so far. They stay when the page shows another place.

import { type Signal, signal } from '@preact/signals';
import { BoundedMap } from '../../../src/async/bounded-map.js';
import type { QuestionView, Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { initialArguments } from '../../form/initial-value.js';
import { connections } from '../../state/store.js';

export interface Draft {
  /** The content of a form, the parts of a model's reply, or the roots. */
  readonly value: unknown;
  /** The text of the JSON editor while it is open. */
  readonly json?: string | undefined;
  readonly remembers: boolean;
  /** The user tried to send it: from now on what is missing is said too. */
  readonly isTried: boolean;
}

/** A model's reply, as its editor holds it. */
export interface ReplyDraft {
  readonly text: string;
  readonly model: string;
  readonly stopReason: string;
}

const MAX_DRAFTS = 200;

const drafts: Signal<ReadonlyMap<string, Draft>> = signal(new Map());

export function draftOf(story: Story, question: QuestionView): Draft {
  return drafts.value.get(nameOf(story, question)) ?? begin(story, question);
}

export function setDraft(story: Story, question: QuestionView, change: Partial<Draft>): void {
  const next = { ...draftOf(story, question), ...change };
  const all = new BoundedMap<string, Draft>(MAX_DRAFTS);
  for (const [name, draft] of drafts.value) all.set(name, draft);
  drafts.value = all.set(nameOf(story, question), next);
}

export function dropDraft(story: Story, question: QuestionView): void {
  const next = new Map(drafts.value);
  if (next.delete(nameOf(story, question))) drafts.value = next;
}

function nameOf(story: Story, question: QuestionView): string {
  return `${story.id} ${question.id}`;
}

// Made once for each question: a form must not begin anew when the page is drawn again.
const beginnings = new WeakMap<QuestionView, Draft>();

function begin(story: Story, question: QuestionView): Draft {
  let draft = beginnings.get(question);
  if (!draft) {
    draft = { value: firstValue(story, question), remembers: false, isTried: false };
    beginnings.set(question, draft);
  }
  return draft;
}

function firstValue(story: Story, { kind, schema, sampling, answer }: QuestionView): unknown {
  // A rejected answer is where the next one begins.
  const content = answer?.['content'];
  switch (kind) {
    case 'form':
      return content ?? initialArguments(schema ?? { type: 'object' });
    case 'sampling':
      return { text: '', model: hintedModel(sampling), stopReason: 'endTurn' } satisfies ReplyDraft;
    case 'roots':
      return connections.peek().get(story.connection)?.roots ?? [];
    case 'url':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function hintedModel(sampling: JsonObject | undefined): string {
  const preferences = sampling?.['modelPreferences'] as JsonObject | undefined;
  const hints = preferences?.['hints'];
  const first: unknown = Array.isArray(hints) ? hints[0] : undefined;
  const name = typeof first === 'object' && first !== null ? (first as JsonObject)['name'] : undefined;
  return typeof name === 'string' && name !== '' ? name.slice(0, 100) : 'written by hand';
}
