// The questions of tasks whose clients cannot ask: they go to the model, or to the user by a link.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Auth, Call } from '../../protocol/call.js';
import { ANSWERED_BY } from '../../protocol/tables/meta-keys.js';
import { compileSchema } from '../../schema/compile.js';
import { explainLater } from '../../schema/explain-later.js';
import type { FallbackPluginParts } from '../../server/handle/fallback-host.js';
import type { AskedPages, TaskMethod } from './page/asked-pages.js';
import { asks, cannotAsk, type ModelQuestion } from './texts.js';

/** The end of an attempt to answer: a problem that the model should know, or none. */
export interface AnswerEnd {
  readonly problem?: string | undefined;
}

/** Asks the questions of tasks, and takes their answers. */
export class Questions {
  readonly #parts: FallbackPluginParts;
  readonly #ofTask: TaskMethod;
  #pages: Promise<AskedPages> | undefined;

  constructor(parts: FallbackPluginParts, ofTask: TaskMethod) {
    this.#parts = parts;
    this.#ofTask = ofTask;
  }

  /** The result that asks the model, or sends the user to the page. */
  async ask(
    call: Call,
    id: string,
    open: readonly (readonly [key: string, request: JsonObject])[],
  ): Promise<JsonObject> {
    const questions: ModelQuestion[] = [];
    for (const [key, request] of open) {
      const params = request['params'] as JsonObject;
      if (!this.#needsUser(params)) {
        questions.push({ key, params });
        continue;
      }
      if (this.#parts.options.page === undefined) {
        await this.#ofTask(call, 'tasks/cancel', { taskId: id });
        return cannotAsk();
      }
      const link = await (await this.#loadPages()).linkTo(call, { id, key, request });
      questions.push({ key, params, link });
    }
    return asks(id, questions);
  }

  /** Takes an answer from the model, or the code with which the user sends the answer of the page. */
  async answer(call: Call, task: JsonObject, given: JsonObject): Promise<AnswerEnd> {
    const { inputRequests } = task;
    const { question: key, code } = given;
    const id = String(task['taskId']);
    const request =
      typeof key === 'string' && isObject(inputRequests) && Object.hasOwn(inputRequests, key)
        ? inputRequests[key]
        : undefined;
    // The answer of an earlier call, for example. The state of the task says what is open.
    if (!isObject(request) || request['method'] !== 'elicitation/create') return {};
    const params = request['params'] as JsonObject;
    const question = { id, key: key as string, request };
    if (this.#needsUser(params)) {
      if (typeof code !== 'string' || this.#parts.options.page === undefined) return {};
      const taken = await (await this.#loadPages()).takeAnswer(call, question, code);
      return 'problem' in taken ? taken : this.#update(call, question, taken.response);
    }
    const read = await readAnswer(params, given);
    return 'problem' in read ? read : this.#update(call, question, read);
  }

  async #update(
    call: Call,
    { id, key }: { readonly id: string; readonly key: string },
    response: JsonObject,
  ): Promise<AnswerEnd> {
    await this.#ofTask(call, 'tasks/update', { taskId: id, inputResponses: { [key]: response } });
    return {};
  }

  /** Whether an answer that the model passes on would not count. */
  #needsUser({ mode, _meta: meta }: JsonObject): boolean {
    if (mode === 'url') return false;
    return this.#parts.options.asking === 'url' || (isObject(meta) && meta[ANSWERED_BY] === 'user');
  }

  async reply(request: Request, auth: Auth | undefined): Promise<Response> {
    return (await this.#loadPages()).reply(request, auth);
  }

  // Loaded with the first question that only the user may answer.
  #loadPages(): Promise<AskedPages> {
    this.#pages ??= import('./page/asked-pages.js').then(
      ({ AskedPages: Pages }) => new Pages(this.#parts, this.#ofTask),
    );
    return this.#pages;
  }
}

/** The answer of the model as the response to the question. It says that the model has passed it on. */
async function readAnswer(
  { mode, requestedSchema }: JsonObject,
  { answer = {}, decline }: JsonObject,
): Promise<JsonObject | { readonly problem: string }> {
  if (decline === true) return { action: 'decline', answeredBy: 'model' };
  if (mode === 'url') return { action: 'accept', answeredBy: 'model' };
  const schema = compileSchema(requestedSchema as JsonObject, { io: 'input', requireObject: true });
  const checked = await schema.validate(answer);
  if (checked.ok) return { action: 'accept', content: answer, answeredBy: 'model' };
  const reason = await explainLater(checked.issues, schema, answer);
  return { problem: `The answer does not fit the schema of the question. ${reason}` };
}
