// The tool `run_code` of a gateway: programs of models that call the tools of the servers behind it.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Dispatch, Outcome } from '../../protocol/call.js';
import { CODE_TOOL, type CodeOptions } from '../../protocol/code/code-options.js';
import { copyCall } from '../../protocol/direct.js';
import type { ListedTool } from '../../protocol/model/model.js';
import type { SearchOptions } from '../../protocol/model/search/options.js';
import { CALL_TOOL, type FoundTools } from '../../protocol/model/search/search-tools.js';
import { TASKS } from '../../protocol/tasks.js';
import type { OperatorLog } from '../../protocol/telemetry/operator-log.js';
import type { Cluster } from '../../state/cluster.js';
import { fetchPages } from './pages.js';
import { type FrontParts, withSearch } from './search-front.js';

/** The servers that programs call, as the engine takes them. */
export interface ProgramsParts extends Omit<CodeOptions, 'engine'> {
  readonly name: string;
  readonly version: string;
  readonly logger: ReturnType<OperatorLog['loggerOf']>;
  readonly dispatch: Dispatch;
  readonly find: (caller: Call, name: string) => Promise<ListedTool | undefined>;
  readonly finds: boolean;
  readonly hidden: readonly string[];
  readonly isTask: boolean;
}

/** The server that runs programs, as the engine makes it: it has one tool. */
export interface Programs {
  readonly dispatch: Dispatch;
  readonly provideSecret: (secret: string | readonly string[] | (() => string)) => void;
  readonly provideCluster: (cluster: Cluster) => void;
  readonly start: () => Promise<void>;
  readonly drain: (options?: { readonly drainMs?: number }) => Promise<void>;
  readonly close: () => Promise<void>;
  /** The description of `search_tools`. */
  readonly describeSearch: (hasSearch: boolean) => string;
  /** The result of `search_tools`. */
  readonly print: (found: FoundTools) => string;
}

/** The part of an engine that makes the server. */
type MakePrograms = (parts: ProgramsParts) => Programs;

/** The options that add tools. */
interface FrontOptions {
  readonly search: boolean | SearchOptions | undefined;
  readonly code: CodeOptions | undefined;
}

/** A dispatch with the tools that it lists in place of the others. */
export interface Front {
  readonly dispatch: Dispatch;
  /** Undefined without the option `code`. */
  readonly programs: Programs | undefined;
}

/** Wraps a dispatch, so that it has the tools of the options `search` and `code`. Throws a TypeError. */
export function withFront(
  dispatch: Dispatch,
  { search, code }: FrontOptions,
  parts: FrontParts & Pick<ProgramsParts, 'name' | 'version' | 'logger'>,
): Front {
  if (code === undefined) return { dispatch: withSearch(dispatch, search, parts), programs: undefined };
  const { owner, warn, ...about } = parts;
  const { engine, ...options } = code;
  const finds = search !== false;
  const hasSearch = finds && search !== undefined;
  let searched!: Dispatch;
  const programs = (engine['~programs'] as MakePrograms)({
    ...about,
    ...options,
    ...{ finds, isTask: true, hidden: [CALL_TOOL] },
    dispatch: (call) => searched(call),
    async find(call, wanted) {
      const listed: unknown = await fetchPages(dispatch, 'tools', { call, signal: call.signal });
      return (listed as readonly ListedTool[]).find(({ name }) => name === wanted);
    },
  });
  const { print, describeSearch } = programs;
  searched = withSearch(dispatch, hasSearch ? search : finds, {
    ...{ owner, warn },
    changes: { print, description: describeSearch(hasSearch), calls: hasSearch },
  });
  const front = new CodeFront(searched, programs.dispatch);
  return { dispatch: (call) => front.dispatch(call), programs };
}

class CodeFront {
  readonly #next: Dispatch;
  readonly #programs: Dispatch;

  constructor(next: Dispatch, programs: Dispatch) {
    this.#next = next;
    this.#programs = programs;
  }

  async dispatch(call: Call): Promise<Outcome> {
    switch (call.method) {
      case 'server/discover':
        return withTasks(await this.#next(call));
      case 'tools/list':
        return this.#list(call);
      case 'tools/call':
        return call.params['name'] === CODE_TOOL ? this.#programs(call) : this.#next(call);
      case 'tasks/get':
      case 'tasks/update':
      case 'tasks/cancel':
        return isOwnTask(call.params['taskId']) ? this.#programs(call) : this.#next(call);
      case 'subscriptions/listen':
        return this.#next(withoutOwnTasks(call));
      default:
        return this.#next(call);
    }
  }

  /** The tool comes last. A tool of a server that has its name cannot be called. */
  async #list(call: Call): Promise<Outcome> {
    const [outcome, own] = await Promise.all([this.#next(call), this.#listed(call)]);
    const others = (outcome['tools'] as readonly ListedTool[]).filter(({ name }) => name !== CODE_TOOL);
    const tools = outcome['nextCursor'] === undefined ? [...others, own] : others;
    return { ...outcome, tools } as unknown as Outcome;
  }

  async #listed(call: Call): Promise<ListedTool> {
    const { tools } = await this.#programs(copyCall(call, { method: 'tools/list', params: {} }));
    return (tools as readonly [ListedTool])[0];
  }
}

/** The ids of other tasks begin with the name of their server and a colon. */
function isOwnTask(id: unknown): boolean {
  return typeof id === 'string' && !id.includes(':');
}

/** Programs can be tasks, whatever the servers support. */
function withTasks(outcome: Outcome): Outcome {
  const capabilities = outcome['capabilities'] as JsonObject;
  const extensions = { ...(capabilities['extensions'] as object | undefined), [TASKS]: {} };
  return { ...outcome, capabilities: { tools: {}, ...capabilities, extensions } } as unknown as Outcome;
}

/** No server behind the gateway knows the tasks of programs. Their clients poll them. */
function withoutOwnTasks(call: Call): Call {
  const wanted = call.params['notifications'] as JsonObject | undefined;
  const ids = wanted?.['taskIds'];
  if (!Array.isArray(ids) || !ids.some(isOwnTask)) return call;
  const taskIds = ids.filter((id) => !isOwnTask(id));
  return copyCall(call, { params: { ...call.params, notifications: { ...wanted, taskIds } } });
}
