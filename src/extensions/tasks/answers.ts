// Answers to a task's questions.

import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import type { AcceptedAnswer } from '../../server/asking/open-questions.js';
import type { Replay } from '../../server/asking/replay.js';
import type { SavedTask } from './saved-task.js';
import { unsaved } from './saving-errors.js';
import { jsonBytes } from './task.js';

export interface AnswerQueueParts {
  readonly saved: SavedTask;
  readonly replay: () => Replay;
  readonly journal: () => Journal;
  readonly isEnded: () => boolean;
  /** Throws if the task does not belong to this process any more. */
  readonly ensureHere: () => void;
  /** The limit for all answers to the task together. */
  readonly maxBytes: number;
}

/** Gives answers to a task's questions: one caller after another, and each answer only once it is in the store. */
export class AnswerQueue {
  readonly #parts: AnswerQueueParts;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: AnswerQueueParts) {
    this.#parts = parts;
  }

  /** Answers that do not belong to an open question, or do not match it, are ignored. */
  give(responses: JsonObject): Promise<void> {
    const turn = this.#queue.then(() => this.#give(responses));
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async #give(responses: JsonObject): Promise<void> {
    const { saved, replay, isEnded } = this.#parts;
    this.#parts.ensureHere();
    if (isEnded()) return;
    const { task } = saved;
    const before = task.open;
    const taken = takeAnswers(replay(), before, responses);
    if (taken.size === 0) return;
    const undo = (): void => {
      for (const { reopen } of taken.values()) reopen();
      if (isEnded()) return;
      const reopened = Object.entries(before).filter(([key]) => taken.has(key));
      saved.change({ open: { ...Object.fromEntries(reopened), ...task.open }, status: 'input_required' });
      // A store may have written the task although it reported a failure.
      saved.saveSoon();
    };
    this.#checkSize(undo);
    this.#closeQuestions([...taken.keys()]);
    // The task makes progress, so its next work counts as a first attempt.
    task.attempts = 1;
    const done = (): void => {
      for (const { proceed } of taken.values()) proceed();
      // While the answer was saved, the handler may have reached one of the questions, which was then listed as open.
      const asked = [...taken.keys()].filter(
        (key) => Object.hasOwn(task.open, key) && !replay().open.has(key),
      );
      if (asked.length === 0 || isEnded()) return;
      this.#closeQuestions(asked);
      saved.saveSoon();
    };
    await saved.attempt({ done, undo }).catch((error) => {
      // The task has ended in the meantime and has no questions any more.
      if (isTerminal(saved.shown.status)) return;
      throw unsaved('The answers could not be saved, and the questions are open again', error);
    });
  }

  // Each step writes all answers of the task again.
  #checkSize(undo: () => void): void {
    const { journal, maxBytes } = this.#parts;
    const bytes = jsonBytes([...journal().answers.values()]);
    if (bytes <= maxBytes) return;
    undo();
    throw new McpError(
      'invalid_params',
      `The answers to this task have ${bytes} bytes; the limit is ${maxBytes} (tasks.maxAnswerBytes).`,
    );
  }

  #closeQuestions(keys: readonly string[]): void {
    const { saved } = this.#parts;
    const open = Object.fromEntries(Object.entries(saved.task.open).filter(([key]) => !keys.includes(key)));
    saved.change({ open, status: Object.keys(open).length === 0 ? 'working' : 'input_required' });
  }
}

function takeAnswers(replay: Replay, open: JsonObject, responses: JsonObject): Map<string, AcceptedAnswer> {
  const taken = new Map<string, AcceptedAnswer>();
  for (const [key, response] of Object.entries(responses)) {
    if (!Object.hasOwn(open, key)) continue;
    const question = replay.open.get(key);
    // After a restart, the client may answer before the handler has reached the question again.
    const answer = question === undefined ? replay.expect(key, response) : question.answer(response);
    if (answer !== undefined) taken.set(key, answer);
  }
  return taken;
}
