import type { TaskHandle, TaskState } from '../../../client/model/client.js';
import { isObject, type JsonObject } from '../../../jsonrpc/message.js';
import { copyError, McpError } from '../../../protocol/errors.js';
import { cleanLine, shellWord } from '../../../tooling/clean.js';
import { ANSWER_OPTIONS, Asker } from '../../asking/asker.js';
import { expectedOf, fieldsOf } from '../../asking/form-fields.js';
import { lineToTry, type TerminalQuestion } from '../../asking/unanswered.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { printResult, RESULT_OPTIONS } from '../../results/print-result.js';
import { fileToWrite } from '../../results/save.js';
import { LOG_OPTIONS, logTo } from '../../target/log.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { progressLine } from '../../terminal/progress-line.js';
import { wrapLine } from '../../terminal/wrap.js';
import { showUnfinished, storeAt } from './unfinished-tasks.js';

const MAX_QUESTIONS = 20;

/** `fullmcp tasks`. */
export const tasks: Command = {
  usage: '<target> [id]',
  details:
    'With the URL of a cluster (postgres:// or redis://) or the folder of an LMDB store alone, shows which processes run tasks, and how many tasks\nare unfinished in which version of their tool.\n\nShows the state of a task that `fullmcp call … --detach` started, and its open questions. With --wait, prints its result; Ctrl+C then\nends the wait, and the task continues. With --answer alone, answers its questions without waiting.',
  words: [1, 2],
  options: {
    wait: { type: 'boolean', help: 'wait for the result and print it' },
    cancel: { type: 'boolean', help: 'cancel the task' },
    ...ANSWER_OPTIONS,
    ...RESULT_OPTIONS,
    ...LOG_OPTIONS,
    progress: { type: 'boolean', help: 'print progress as lines if stderr is not a terminal' },
    ...TARGET_OPTIONS,
  },
  examples: [
    { line: 'fullmcp tasks https://example.com/mcp f713e8fc', says: 'Shows its state and its questions.' },
    {
      line: 'fullmcp tasks https://example.com/mcp f713e8fc --answer crust=golden --wait',
      says: 'Answers its question and prints the result.',
    },
    { line: 'fullmcp tasks https://example.com/mcp f713e8fc --cancel', says: 'Cancels it.' },
    {
      line: 'fullmcp tasks "$MCP_CLUSTER_URL"',
      says: 'Says before a version is removed what waits in it.',
    },
  ],
  json: '{ ok: true, task: { id: string, status: "working" | "input_required" | "completed" | "failed" | "cancelled", statusMessage?: string, progress?: object, createdAt: string, lastUpdatedAt: string, ttlMs?: number | null, questions: Record<string, object> } } or, of a store, { ok: true, releases: { server: string, release: string, processes: number }[], tasks: { server: string, tool: string, version?: string, release: string, working: number, waiting: number, oldest: string, processes: number }[] }; with --wait that of call, where task is the id',
  run: async (input) => {
    const [word = '', ...rest] = input.words;
    const store = rest.length === 0 && input.process === undefined ? storeAt(word) : undefined;
    if (store !== undefined) return showUnfinished(store, input);
    const file = fileToWrite(input);
    if (input.flag('wait') && input.flag('cancel'))
      throw usageError('--wait and --cancel exclude each other.');
    const asker = new Asker(input);
    await withTarget(
      input,
      async ({ client, target, words: [id] }) => {
        if (id === undefined)
          throw usageError('The id of a task is missing: `fullmcp call … --detach` prints it.');
        const handle = client.task(id);
        const words = ['tasks', ...(input.process ? [] : [target.word]), id];
        const { process } = input;
        const asking = {
          subject: 'The task',
          words: [...words, '--wait'],
          process,
          interrupting: 'ends the wait',
        };
        const using = async (signal: AbortSignal): Promise<void> => {
          if (input.flag('wait')) return wait(handle, id, { input, file, signal });
          if (input.flag('cancel')) await handle.cancel({ signal });
          else if (input.texts('answer').length > 0) await answer(handle, asker, signal);
          show(await handle.status({ signal }), { ...asking, words }, input);
        };
        await asker.during(asking, using).catch((error: unknown) => {
          throw orNoTask(error);
        });
      },
      { ...asker.handlers, ...logTo(input) },
    );
  },
};

interface Waiting {
  readonly input: Typed;
  readonly file: string | undefined;
  readonly signal: AbortSignal;
}

async function wait(handle: TaskHandle, id: string, { input, file, signal }: Waiting): Promise<void> {
  const onProgress = progressLine(input.out, 'task', input.flag('progress'));
  try {
    const result = await handle.result({ signal, onProgress });
    input.out.redraw('');
    printResult(result, input, { task: id }, file);
  } catch (error) {
    if (McpError.is(error) && error.code === 'cancelled' && !signal.aborted)
      throw new CommandError('failed', 'The task was cancelled.', { task: id });
    throw error;
  }
}

/** Answers the open forms that the given answers fill in. */
async function answer(handle: TaskHandle, asker: Asker, signal: AbortSignal): Promise<void> {
  const { questions } = await handle.status({ signal });
  const answers = Object.entries(questions).flatMap(([key, question]) => {
    const schema = formOf(question)?.schema;
    const content = schema && asker.contentFor(key, schema);
    return content ? [[key, { action: 'accept', content }] as const] : [];
  });
  if (answers.length === 0)
    throw new CommandError(
      'unanswered',
      Object.keys(questions).length === 0
        ? 'The task has no open question.'
        : 'The answers fill in none of the open questions. Without --answer, the command shows them.',
    );
  await handle.answer(Object.fromEntries(answers), { signal });
}

/** The error for an id that the server does not know, with where ids come from. */
function orNoTask(error: unknown): unknown {
  if (!McpError.is(error) || error.code !== 'invalid_params') return error;
  const message = `${error.message.replace(/(?<![.!?])$/, '.')} \`fullmcp call … --detach\` prints the id of a task. The server forgets a task some time after its end.`;
  return copyError(error, { message });
}

function formOf({
  method,
  params,
}: JsonObject): { message: string; schema?: JsonObject; url?: string } | undefined {
  if (method !== 'elicitation/create' || !isObject(params)) return undefined;
  const { message, requestedSchema, url } = params;
  return {
    message: typeof message === 'string' ? message : '',
    ...(isObject(requestedSchema) && { schema: requestedSchema }),
    ...(typeof url === 'string' && { url }),
  };
}

const STATUS: Readonly<Record<TaskState['status'], string>> = {
  working: 'working',
  input_required: 'waiting for you',
  completed: 'completed; --wait prints the result',
  failed: 'failed; --wait prints the reason',
  cancelled: 'cancelled',
};

function show(state: TaskState, asking: TerminalQuestion, { out }: Typed): void {
  out.json({ ok: true, task: state });
  if (out.isJson) return;
  const { status, statusMessage, createdAt, ttlMs, questions } = state;
  const created = Date.parse(createdAt);
  const parts = [
    STATUS[status],
    // The last words of a task say nothing new once there is a result.
    status !== 'completed' && statusMessage && cleanLine(statusMessage, 200),
    Number.isNaN(created) ? '' : `started ${cleanLine(createdAt, 40)}`,
    typeof ttlMs === 'number' && !Number.isNaN(created) && ttlMs < 1e13
      ? `kept until ${new Date(created + ttlMs).toISOString()}`
      : '',
  ];
  out.value(wrapLine(parts.filter(Boolean).join('  '), out.width, '  '));
  const shown = Object.entries(questions).slice(0, MAX_QUESTIONS);
  for (const [key, question] of shown) {
    const { message = String(question['method']), schema = {}, url } = formOf(question) ?? {};
    out.value(`  ${cleanLine(key, 64)}: ${cleanLine(message, 500)}`);
    if (url) out.value(`    ${url}`);
    for (const field of fieldsOf(schema)) out.value(`    ${cleanLine(field.name, 64)}  ${expectedOf(field)}`);
  }
  if (shown.length > 0) out.noteLine(`Answer with: ${answeringLine(shown, asking)}`);
}

/** The line that answers open questions. A page is only opened by a person who waits for the task. */
function answeringLine(
  questions: readonly (readonly [string, JsonObject])[],
  asking: TerminalQuestion,
): string {
  const fields = questions.flatMap(([, question]) => fieldsOf(formOf(question)?.schema ?? {}));
  const line = lineToTry(asking, fields);
  return (
    line ??
    ['fullmcp', ...asking.words, '--wait', ...(asking.process ? ['--', ...asking.process] : [])]
      .map(shellWord)
      .join(' ')
  );
}
