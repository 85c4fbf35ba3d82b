// The questions that wait for the page, and the answers that it asked to remember.

import { BoundedMap } from '../../async/bounded-map.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { cancelledBy, McpError } from '../../protocol/errors.js';
import { type QuestionInit, type QuestionOwner, QuestionRecord } from './question.js';
import type { StoryRecord } from './story-record.js';

const MAX_REMEMBERED = 500;
const MAX_OPEN = 1000;

/** The story that asks, or those of which one does. */
export type Askers = readonly [StoryRecord, ...StoryRecord[]];

/** A question as a handler of the client gets it. */
export interface IncomingQuestion extends Omit<QuestionInit, 'id' | 'round'> {
  /** Why the previous answer was rejected. */
  readonly rejection?: string | undefined;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

export class PageQuestions {
  readonly #remembered = new BoundedMap<string, JsonObject>(MAX_REMEMBERED);
  #last = 0;
  #open = 0;

  /**
   * Asks the page, and waits for as long as the user needs. A question that may belong to one of several calls is shown in each of them,
   * and is answered once.
   */
  async ask(askers: Askers, incoming: IncomingQuestion): Promise<JsonObject> {
    const { rejection, signal, ...asked } = incoming;
    const [story] = askers;
    if (signal.aborted) throw cancelledBy(signal.reason);
    if (this.#open >= MAX_OPEN)
      throw new McpError('overloaded', `The server asks more than ${MAX_OPEN} questions at once.`);
    const again = rejection === undefined ? undefined : rejected(askers, incoming);
    const question = again ?? this.#newQuestion(askers, asked);
    const owners = question.owners;
    const remembered = again === undefined ? this.#rememberedFor(owners, question) : undefined;
    if (remembered !== undefined) {
      question.settle(remembered, true);
      for (const owner of owners) owner.changed();
      return remembered;
    }
    const answer = question.wait(rejection);
    const onAbort = (): void => {
      question.leave(reasonOf(story, signal), cancelledBy(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#open++;
    for (const owner of owners) owner.clock.begin();
    for (const owner of owners) owner.changed();
    try {
      return await answer;
    } finally {
      this.#open--;
      signal.removeEventListener('abort', onAbort);
      for (const owner of owners) owner.clock.answered();
      for (const owner of owners) owner.changed();
    }
  }

  /** Adds a question that was answered at once, with what the user had set before. */
  record(askers: Askers, asked: Omit<QuestionInit, 'id' | 'round'>, answer: JsonObject): void {
    this.#newQuestion(askers, asked).settle(answer, true);
    for (const story of askers) story.changed();
  }

  /** Takes the page's answer. */
  answer(
    story: StoryRecord,
    id: string,
    { answer, remember }: { readonly answer: JsonObject; readonly remember: boolean },
  ): void {
    const question = story.questions.find(({ asked }) => asked.id === id);
    if (question === undefined)
      throw new McpError('invalid_params', `The call ${story.id} has no question "${id.slice(0, 100)}".`);
    if (!question.isOpen) {
      const { gone } = question.view;
      throw new McpError(
        'invalid_request',
        gone === undefined
          ? 'This question has been answered already.'
          : `This question can no longer be answered: ${gone}`,
      );
    }
    if (remember) this.#remembered.set(keyOf(story, question), answer);
    question.settle(answer);
    story.changed();
  }

  /** The story is over: its questions can no longer be answered. */
  leave(story: StoryRecord, why: string): void {
    for (const question of [...story.questions]) {
      // A call that ends while its question is open has not asked it: another one has.
      if (question.isOpen && question.owners.length > 1) question.disown(story);
      else question.leave(why, new McpError('cancelled', 'The call is over.'));
    }
    story.changed();
  }

  /** Forgets the answers for a connection, or for one tool of it. */
  forget(connection: string, tool?: string): void {
    const prefix = JSON.stringify(tool === undefined ? [connection] : [connection, tool]).slice(0, -1);
    for (const key of this.#remembered.keys())
      if (key.startsWith(`${prefix},`) || key.startsWith(`${prefix}]`)) this.#remembered.delete(key);
  }

  #newQuestion(askers: Askers, asked: Omit<QuestionInit, 'id' | 'round'>): QuestionRecord {
    const rounds = askers.map((story) => story.rounds.length);
    const question = new QuestionRecord(
      { ...asked, id: `q${++this.#last}`, round: Math.max(1, ...rounds) },
      askers,
    );
    for (const story of askers) story.addQuestion(question);
    return question;
  }

  #rememberedFor(askers: readonly QuestionOwner[], question: QuestionRecord): JsonObject | undefined {
    // The saved answers of a call are not given to a question that another call may have asked.
    const [only] = askers.length === 1 ? askers : [];
    const saved = only?.answerFor?.(question.asked);
    if (saved !== undefined) return saved;
    for (const story of askers) {
      const answer = this.#remembered.get(keyOf(story, question));
      if (answer !== undefined) return answer;
    }
    return undefined;
  }
}

/** The question whose answer was rejected: it is asked again, in its place. */
function rejected(askers: Askers, { key, kind, message }: IncomingQuestion): QuestionRecord | undefined {
  return askers
    .flatMap((story) => story.questions)
    .findLast(
      (question) =>
        !question.isOpen &&
        question.asked.kind === kind &&
        question.asked.key === key &&
        question.asked.message === message,
    );
}

/** Answers are remembered for a question of a tool: by its key, or by its words where there are no keys. */
function keyOf(story: QuestionOwner, { asked }: QuestionRecord): string {
  return JSON.stringify([story.connection, story.title, asked.kind, asked.key ?? asked.message]);
}

function reasonOf(story: StoryRecord, { reason }: AbortSignal): string {
  const why = reason instanceof Error ? reason.message : 'the server does not need the answer any more';
  return story.isOver ? `the call is over (${why})` : why;
}
