// The questions that wait for the page, and the answers that it asked to remember.

import { BoundedMap } from '../../async/bounded-map.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { cancelledBy, McpError } from '../../protocol/errors.js';
import { type QuestionInit, QuestionRecord } from './question.js';
import type { StoryRecord } from './story-record.js';

const MAX_REMEMBERED = 500;
const MAX_OPEN = 1000;

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

  /** Asks the page, and waits for as long as the user needs. */
  async ask(story: StoryRecord, incoming: IncomingQuestion): Promise<JsonObject> {
    const { rejection, signal, ...asked } = incoming;
    if (signal.aborted) throw cancelledBy(signal.reason);
    if (this.#open >= MAX_OPEN)
      throw new McpError('overloaded', `The server asks more than ${MAX_OPEN} questions at once.`);
    const again = rejection === undefined ? undefined : rejected(story, incoming);
    const question = again ?? this.#newQuestion(story, asked);
    const remembered = again === undefined ? this.#remembered.get(keyOf(story, question)) : undefined;
    if (remembered !== undefined) {
      question.settle(remembered, true);
      story.changed();
      return remembered;
    }
    const answer = question.wait(rejection);
    const onAbort = (): void => {
      question.leave(reasonOf(story, signal), cancelledBy(signal.reason));
      story.changed();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    this.#open++;
    story.clock.begin();
    story.changed();
    try {
      return await answer;
    } finally {
      this.#open--;
      story.clock.answered();
      signal.removeEventListener('abort', onAbort);
      story.changed();
    }
  }

  /** Adds a question that was answered at once, with what the user had set before. */
  record(story: StoryRecord, asked: Omit<QuestionInit, 'id' | 'round'>, answer: JsonObject): void {
    this.#newQuestion(story, asked).settle(answer, true);
    story.changed();
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
    for (const question of story.questions)
      question.leave(why, new McpError('cancelled', 'The call is over.'));
    story.changed();
  }

  /** Forgets the answers for a connection, or for one tool of it. */
  forget(connection: string, tool?: string): void {
    const prefix = JSON.stringify(tool === undefined ? [connection] : [connection, tool]).slice(0, -1);
    for (const key of this.#remembered.keys())
      if (key.startsWith(`${prefix},`) || key.startsWith(`${prefix}]`)) this.#remembered.delete(key);
  }

  #newQuestion(story: StoryRecord, asked: Omit<QuestionInit, 'id' | 'round'>): QuestionRecord {
    const question = new QuestionRecord({
      ...asked,
      id: `q${++this.#last}`,
      round: Math.max(1, story.rounds.length),
    });
    story.addQuestion(question);
    return question;
  }
}

/** The question whose answer was rejected: it is asked again, in its place. */
function rejected(story: StoryRecord, { key, kind, message }: IncomingQuestion): QuestionRecord | undefined {
  return story.questions.findLast(
    (question) =>
      !question.isOpen &&
      question.asked.kind === kind &&
      question.asked.key === key &&
      question.asked.message === message,
  );
}

/** Answers are remembered for a question of a tool: by its key, or by its words where there are no keys. */
function keyOf(story: StoryRecord, { asked }: QuestionRecord): string {
  return JSON.stringify([story.connection, story.title, asked.kind, asked.key ?? asked.message]);
}

function reasonOf(story: StoryRecord, { reason }: AbortSignal): string {
  const why = reason instanceof Error ? reason.message : 'the server does not need the answer any more';
  return story.isOver ? `the call is over (${why})` : why;
}
