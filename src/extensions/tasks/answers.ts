// Answers to a task's questions.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import type { AcceptedAnswer } from '../../server/asking/open-questions.js';
import type { Replay } from '../../server/asking/replay.js';
import { sizeOf } from '../../server/asking/size.js';
import type { SavedTask } from './saved-task.js';
import { savingError } from './saving-errors.js';

/** The parts of an `AnswerQueue`. */
export interface AnswerQueueParts {
  readonly saved: SavedTask;
  readonly replay: Replay;
  readonly journal: () => Journal;
  readonly hasEnded: () => boolean;
  /** Throws if the task no longer belongs to this process. */
  readonly ensureHere: () => void;
  /** The limit for all answers to the task together. */
  readonly maxBytes: number;
}

/** Passes answers to a task's questions: one request after another, and each answer only when it is in the store. */
export class AnswerQueue {
  readonly #parts: AnswerQueueParts;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: AnswerQueueParts) {
    this.#parts = parts;
  }

  /** Passes answers to their questions. Answers to questions that are not open, and invalid answers, are ignored. */
  give(responses: JsonObject): Promise<void> {
    const turn = this.#queue.then(() => this.#give(responses));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #give(responses: JsonObject): Promise<void> {
    const { saved, replay, hasEnded } = this.#parts;
    this.#parts.ensureHere();
    if (hasEnded()) return;
    const { task } = saved;
    const openBefore = task.open;
    const accepted = acceptAnswers(replay, openBefore, responses);
    if (accepted.size === 0) return;
    const undo = (): void => {
      for (const { reopen } of accepted.values()) reopen();
      if (hasEnded()) return;
      const reopened = Object.entries(openBefore).filter(([key]) => accepted.has(key));
      saved.change({ open: { ...Object.fromEntries(reopened), ...task.open }, status: 'input_required' });
      // A store may have written the task although it reported a failure.
      saved.saveSoon();
    };
    this.#checkSize(undo);
    this.#closeQuestions([...accepted.keys()]);
    // An answer is progress, so the attempts are counted anew.
    task.attempts = 1;
    const done = (): void => {
      for (const { proceed } of accepted.values()) proceed();
      // While the answer was saved, the handler may have reached one of the questions, which was then listed as open.
      const listedAgain = [...accepted.keys()].filter(
        (key) => Object.hasOwn(task.open, key) && !replay.open.has(key),
      );
      if (listedAgain.length === 0 || hasEnded()) return;
      this.#closeQuestions(listedAgain);
      saved.saveSoon();
    };
    await saved.trySave({ done, undo }).catch((error) => {
      // The task has ended in the meantime, so it has no open questions.
      if (isTerminal(saved.visible.status)) return;
      throw savingError('The answers could not be saved, and the questions are open again', error);
    });
  }

  // Each step writes all answers of the task again.
  #checkSize(undo: () => void): void {
    const { journal, maxBytes } = this.#parts;
    const bytes = sizeOf(JSON.stringify([...journal().answers.values()]));
    if (bytes <= maxBytes) return;
    undo();
    throw new McpError(
      'invalid_params',
      `The answers to this task have ${bytes} bytes; the limit is ${maxBytes} (tasks.maxAnswerBytes). Send shorter answers.`,
    );
  }

  #closeQuestions(keys: readonly string[]): void {
    const { saved } = this.#parts;
    const open = Object.fromEntries(Object.entries(saved.task.open).filter(([key]) => !keys.includes(key)));
    saved.change({ open, status: Object.keys(open).length === 0 ? 'working' : 'input_required' });
  }
}

function acceptAnswers(replay: Replay, open: JsonObject, responses: JsonObject): Map<string, AcceptedAnswer> {
  const accepted = new Map<string, AcceptedAnswer>();
  for (const [key, response] of Object.entries(responses)) {
    if (!Object.hasOwn(open, key)) continue;
    const question = replay.open.get(key);
    // After a restart, the client may answer before the handler has reached the question again.
    const answer = question === undefined ? replay.expect(key, response) : question.answer(response);
    if (answer !== undefined) accepted.set(key, answer);
  }
  return accepted;
}
