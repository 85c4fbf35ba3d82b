/** The tool that waits for a task, gives its result, and cancels it. */
export const CONTINUE_TASK = 'continue_task';

/** The tool that brings the answer to a question. */
export const ANSWER_QUESTION = 'answer_question';
