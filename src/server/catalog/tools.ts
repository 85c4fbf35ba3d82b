// Compiles tools, and reads the arguments of their calls.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { Call, Middleware } from '../../protocol/call.js';
import type { Caller } from '../../protocol/caller.js';
import { timerMs } from '../../protocol/checks/options.js';
import {
  checkParamHeaders,
  findParamHeaders,
  type ParamHeader,
} from '../../protocol/encoding/param-headers.js';
import { McpError } from '../../protocol/errors.js';
import type { ListedTool, ListedToolAnnotations } from '../../protocol/model/model.js';
import { INVALID_ARGUMENTS } from '../../protocol/tables/failure-texts.js';
import { KEEPS_KEYS, RETURNS_HANDLE, TASK_SUPPORT } from '../../protocol/tables/meta-keys.js';
import type { CompiledSchema } from '../../schema/check/compiled-schema.js';
import type { ValidationResult } from '../../schema/check/issue.js';
import { compileSchema } from '../../schema/compile.js';
import { explainLater } from '../../schema/explain-later.js';
import type { GuardedOptions, ServerAccess } from '../access/access.js';
import type { Guarded } from '../access/views.js';
import type { HandlerRun } from '../context/handler-run.js';
import type { TaskOptions } from '../define/task-options.js';
import type { Tool, ToolAnnotations } from '../define/tool.js';
import { toolFailure } from '../results/results.js';
import type { ToolOutcomes } from '../results/tool-outcomes.js';
import type { ToolResult } from '../results/tool-result.js';
import { type IdempotencyOptions, windowOf } from '../state/idempotency-options.js';
import { checkFunction, readMiddleware } from './check-functions.js';
import { listDescription } from './description.js';
import {
  type AnyToolHandler,
  type ToolErrors,
  type ToolRunResult,
  toolRunner,
  withPolicy,
  withTimeout,
} from './run-tool.js';

/** A tool, prepared for its calls. */
export interface CompiledTool extends Guarded {
  readonly name: string;
  readonly listed: ListedTool;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | undefined;
  readonly paramHeaders: readonly ParamHeader[];
  readonly handler: HandlerRun<unknown, ToolRunResult>;
  readonly task: TaskOptions | undefined;
  /** The time for which outcomes are kept for repeated calls; undefined if they are not kept. */
  readonly idempotencyMs: number | undefined;
  /** Whether calling the tool twice has the same effect as calling it once. */
  readonly isHarmless: boolean;
  /** The options that rules follow from. */
  readonly options: GuardedOptions;
  /** Whether clients get a handle in place of its value. */
  readonly returnsHandle: boolean;
  /** The middleware around the calls of the tool; undefined if there is none. */
  readonly use: readonly Middleware[] | undefined;
  /** The name of this version, if the tool has versions. */
  readonly version?: string;
  /** The versions of the tool, if it has any. Each caller sees one of them. */
  readonly versions?: ToolVersions;
  /** Whether the tool acts on the server that clients connect to, wherever it is mounted. */
  readonly isOutermost?: boolean;
}

/** Several versions of a tool. */
export interface ToolVersions {
  /** The versions, the newest first. */
  readonly all: readonly CompiledTool[];
  /** The position of the version that a caller gets; -1 if that cannot be decided, or the tool was removed. */
  readonly choose: (caller: Caller) => Promise<number>;
  /** The owner of tasks of the tool: if the tool was removed, as a caller of its newest version. */
  readonly ownerOfTasks: (caller: Caller) => Promise<Caller>;
  /** Whether the program decides which caller gets which version. */
  readonly isByCaller: boolean;
  /** The position of the version that was meant by arguments from an older list: the chosen one, unless they fit only another one. */
  readonly meant: (all: readonly CompiledTool[], args: unknown, chosen: number) => Promise<number>;
}

/** Changes a tool, with all its versions. */
export function changeTool(tool: CompiledTool, change: (tool: CompiledTool) => CompiledTool): CompiledTool {
  if (tool.versions === undefined) return change(tool);
  const all = tool.versions.all.map(change);
  return { ...(all[0] as CompiledTool), versions: { ...tool.versions, all } };
}

/** The tools that are listed in place of all others. */
export interface ToolFront {
  /** The tools through which the others are found and called. A server that this one is mounted in does not get them. */
  readonly tools: ReadonlyMap<string, CompiledTool>;
  /** Whether a tool is listed: those of the front, and some others. */
  readonly lists: (name: string) => boolean;
}

/** The server's settings for tools without their own, and the functions that make outcomes. */
export interface ToolDefaults extends ToolErrors {
  readonly timeoutMs: number | undefined;
  readonly idempotency: boolean | IdempotencyOptions | undefined;
  readonly outcomes: ToolOutcomes;
  readonly access: ServerAccess;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const noInput = { type: 'object', additionalProperties: false } as const;

/** Compiles a tool. Throws an error that describes the mistake in the definition. */
export function compileTool(name: string, tool: Tool, defaults: ToolDefaults): CompiledTool {
  checkToolName(name);
  const { options } = tool;
  const input = compileSchema(options.input ?? noInput, { io: 'input', requireObject: true });
  const output = options.output && compileSchema(options.output, { io: 'output' });
  const { paramHeaders, problems } = findParamHeaders(input.json);
  if (problems.length > 0) throw new TypeError(problems.join('; '));
  const run = handlerOf(tool);
  const task = typeof options.task === 'string' ? { support: options.task } : options.task;
  // Tasks are meant to take long, so the server's time limit does not apply to them.
  const timeoutMs = options.timeoutMs ?? (task === undefined ? defaults.timeoutMs : undefined);
  const idempotencyMs = windowOf(options.idempotency, defaults.idempotency);
  const runTool = toolRunner({ name, output, run }, defaults);
  const access = defaults.access.of({ kind: 'tool', name }, options as GuardedOptions);
  const returnsHandle = options.handle === true;
  const timed = timeoutMs === undefined ? runTool : withTimeout(name, timerMs(timeoutMs), runTool);
  return {
    name,
    listed: withMeta(listTool(name, tool, { input, output }), {
      // A client may retry a call with a key only if the tool declares that it supports keys.
      ...(idempotencyMs !== undefined && { [KEEPS_KEYS]: { windowMs: idempotencyMs } }),
      ...(task !== undefined && { [TASK_SUPPORT]: task.support }),
      ...(returnsHandle && { [RETURNS_HANDLE]: {} }),
    }),
    input,
    output,
    access,
    paramHeaders,
    handler: {
      target: ({ params }) => ({ name, args: params['arguments'] }),
      // The time that a person takes to approve the call does not count.
      run: access?.policy === undefined ? timed : withPolicy(access.policy, timed),
      finish: finishOf({ output, returnsHandle }, defaults.outcomes),
    },
    task,
    idempotencyMs,
    isHarmless: options.annotations?.idempotent === true || options.annotations?.readOnly === true,
    options: options as GuardedOptions,
    returnsHandle,
    use: readMiddleware(options.use),
  };
}

/** The function that makes the outcomes of a tool. */
export function finishOf(
  { output, returnsHandle }: Pick<CompiledTool, 'output' | 'returnsHandle'>,
  { withSchema, withoutSchema }: ToolOutcomes,
): CompiledTool['handler']['finish'] {
  return output === undefined && !returnsHandle ? withoutSchema : withSchema;
}

/** Throws if a tool cannot have a name. */
export function checkToolName(name: string): void {
  if (!NAME.test(name))
    throw new TypeError('a tool name has 1 to 128 characters from A-Z, a-z, 0-9, "_", "-" and "."');
}

function listTool(
  name: string,
  { options }: Tool,
  schemas: { readonly input: CompiledSchema; readonly output: CompiledSchema | undefined },
): ListedTool {
  const { annotations } = options;
  return {
    name,
    ...listDescription(options),
    inputSchema: { ...schemas.input.json },
    ...(schemas.output && { outputSchema: { ...schemas.output.json } }),
    ...(annotations && { annotations: toHints(annotations) }),
  };
}

function withMeta(listed: ListedTool, added: JsonObject): ListedTool {
  return Object.keys(added).length === 0 ? listed : { ...listed, _meta: { ...listed._meta, ...added } };
}

function toHints({ readOnly, destructive, idempotent, openWorld }: ToolAnnotations): ListedToolAnnotations {
  return {
    ...(readOnly !== undefined && { readOnlyHint: readOnly }),
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(openWorld !== undefined && { openWorldHint: openWorld }),
  };
}

function handlerOf({ run, load }: Tool): AnyToolHandler {
  if (run === undefined && load === undefined) throw new TypeError('it has neither "run" nor "load"');
  checkFunction(run === undefined ? 'load' : 'run', run ?? load);
  return run === undefined ? loadOnce(load as () => Promise<object>) : (run as AnyToolHandler);
}

// Loads the module once, with the first call. If that fails, the next call retries.
function loadOnce(load: () => Promise<object>): AnyToolHandler {
  let loading: Promise<AnyToolHandler> | undefined;
  return async function loadedTool(input, ctx) {
    loading ??= load().then(
      (module) => readModule(module),
      (error) => {
        loading = undefined;
        throw error;
      },
    );
    return (await loading)(input, ctx);
  };
}

function readModule(module: { readonly run?: unknown; readonly default?: unknown }): AnyToolHandler {
  const handler = 'run' in module ? module.run : module.default;
  if (typeof handler === 'function') return handler as AnyToolHandler;
  throw new TypeError('The module of "load" has no handler. Export a function, as "run" or by default.');
}

/** The arguments as the handler's input, or a failure that tells the model what to send instead. */
export type ToolInput =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly failure: ToolResult };

/** Checks the arguments of a call. */
export function readArguments(tool: CompiledTool, call: Call): ToolInput | Promise<ToolInput> {
  const args = call.params['arguments'] ?? {};
  if (!isObject(args)) throw new McpError('invalid_params', 'params.arguments must be an object');
  if (tool.paramHeaders.length > 0) checkHeaders(tool, args, call);
  const checked = tool.input.validate(args);
  return checked instanceof Promise
    ? checked.then((result) => toInput(tool, args, result))
    : toInput(tool, args, checked);
}

function checkHeaders({ paramHeaders }: CompiledTool, args: JsonObject, { http }: Call): void {
  const mismatch = http?.mirrored && checkParamHeaders(paramHeaders, args, http.mirrored);
  if (mismatch) throw new McpError('header_mismatch', `Header mismatch: ${mismatch}`);
}

function toInput(
  tool: CompiledTool,
  args: JsonObject,
  checked: ValidationResult<unknown>,
): ToolInput | Promise<ToolInput> {
  if (checked.ok) return checked;
  return explainLater(checked.issues, tool.input, args).then((problem) => ({
    ok: false,
    failure: toolFailure(`${INVALID_ARGUMENTS}${tool.name}. ${problem}`),
  }));
}
