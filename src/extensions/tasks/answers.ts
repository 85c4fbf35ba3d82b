import type { JsonObject } from '../../jsonrpc/message.js';
import { McpError } from '../../protocol/errors.js';
import { isTerminal } from '../../protocol/tasks.js';
import type { Journal } from '../../server/asking/journal.js';
import type { AcceptedAnswer, Replay } from '../../server/asking/replay.js';
import type { SavedTask } from './saved-task.js';
import { unsaved } from './saving-errors.js';
import { jsonBytes } from './task.js';

export interface TaskAnswersParts {
  readonly saved: SavedTask;
  readonly asking: () => Replay;
  readonly journal: () => Journal;
  readonly isEnded: () => boolean;
  /** Throws if the task is not this process's any more. */
  readonly ensureHere: () => void;
  /** How much all answers to the task may have. */
  readonly maxBytes: number;
}

/** Hands answers to a task's questions, one caller after the other, and each only when it is in the store. */
export class TaskAnswers {
  readonly #parts: TaskAnswersParts;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: TaskAnswersParts) {
    this.#parts = parts;
  }

  /** Answers that belong to no open question, or do not fit it, are ignored. */
  give(responses: JsonObject): Promise<void> {
    const given = this.#queue.then(() => this.#give(responses));
    this.#queue = given.catch(() => undefined);
    return given;
  }

  async #give(responses: JsonObject): Promise<void> {
    const { saved, asking, isEnded } = this.#parts;
    this.#parts.ensureHere();
    if (isEnded()) return;
    const { task } = saved;
    const before = task.open;
    const taken = takeAnswers(asking(), before, responses);
    if (taken.size === 0) return;
    const undo = (): void => {
      for (const { reopen } of taken.values()) reopen();
      if (isEnded()) return;
      const reopened = Object.entries(before).filter(([key]) => taken.has(key));
      saved.change({ open: { ...Object.fromEntries(reopened), ...task.open }, status: 'input_required' });
      // A store may have written what it says it has not.
      saved.saveSoon();
    };
    this.#checkSize(undo);
    this.#closeQuestions([...taken.keys()]);
    // It gets further, and whatever it does next is its first attempt at that.
    task.attempts = 1;
    const done = (): void => {
      for (const { proceed } of taken.values()) proceed();
      // The handler may have come to one of the questions while the answer was saved, and have been shown as asking it.
      const asked = [...taken.keys()].filter(
        (key) => Object.hasOwn(task.open, key) && !asking().open.has(key),
      );
      if (asked.length === 0 || isEnded()) return;
      this.#closeQuestions(asked);
      saved.saveSoon();
    };
    await saved.attempt({ done, undo }).catch((error) => {
      // It has ended meanwhile, and has no questions any more.
      if (isTerminal(saved.shown.status)) return;
      throw unsaved('The answers could not be saved, and the questions are open again', error);
    });
  }

  // All answers of a task are written again with each of its steps.
  #checkSize(undo: () => void): void {
    const { journal, maxBytes } = this.#parts;
    const bytes = jsonBytes([...journal().answers.values()]);
    if (bytes <= maxBytes) return;
    undo();
    throw new McpError(
      'invalid_params',
      `The answers to this task have ${bytes} bytes, at most ${maxBytes} (tasks.maxAnswerBytes).`,
    );
  }

  #closeQuestions(keys: readonly string[]): void {
    const { saved } = this.#parts;
    const open = Object.fromEntries(Object.entries(saved.task.open).filter(([key]) => !keys.includes(key)));
    saved.change({ open, status: Object.keys(open).length === 0 ? 'working' : 'input_required' });
  }
}

function takeAnswers(asking: Replay, open: JsonObject, responses: JsonObject): Map<string, AcceptedAnswer> {
  const taken = new Map<string, AcceptedAnswer>();
  for (const [key, response] of Object.entries(responses)) {
    if (!Object.hasOwn(open, key)) continue;
    const question = asking.open.get(key);
    // After a restart the client may be faster than the handler, which has yet to come to where it stood.
    const answer = question === undefined ? asking.expect(key, response) : question.answer(response);
    if (answer !== undefined) taken.set(key, answer);
  }
  return taken;
}
