// A server that has nothing but `run_code`, whose programs call the tools of other servers: for gateways and clients.

import type { Call, Dispatch } from '../../protocol/call.js';
import type { CodeEngine } from '../../protocol/code/code-engine.js';
import { CODE_TOOL, type CodeOptions } from '../../protocol/code/code-options.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { SEARCH_TOOL } from '../../protocol/model/search/search-tools.js';
import type { PolicyTool } from '../../protocol/tool-use.js';
import { policyTool } from '../../server/access/access.js';
import type { CoreServer } from '../../server/build/core-server.js';
import type { CodeHost } from '../../server/code/code-host.js';
import { codeTool, MAX_CALLS } from '../../server/code/code-tool.js';
import { openRealms } from '../../server/code/open-realms.js';
import { createServer } from '../../server/create-server.js';
import type { AnyServerOptions } from '../../server/define/options.js';
import type { Logger } from '../../server/state/log.js';
import { taskHostLater } from '../tasks/host-later.js';

/** The servers that programs call, and the options for programs. */
export interface ProgramServerParts extends Omit<CodeOptions, 'engine'> {
  readonly name: string;
  readonly version: string;
  readonly logger: Logger;
  /** Answers the calls of programs, with the rules for each of them. */
  readonly dispatch: Dispatch;
  /** The tool of this name, if the caller may use it. */
  readonly find: (caller: Call, name: string) => Promise<ListedTool | undefined>;
  /** Whether programs can call `search_tools`. */
  readonly finds: boolean;
  /** Other tools that programs cannot call: those that stand for others. */
  readonly hidden: readonly string[];
  /** Whether clients may start programs as tasks. */
  readonly isTask: boolean;
  /** The largest journal of a program that asks, as it travels through its client. Default: that of a server. */
  readonly maxAskingBytes?: number;
}

/** The server that runs programs. */
export type ProgramServer = Pick<
  CoreServer,
  'dispatch' | 'provideSecret' | 'provideCluster' | 'start' | 'drain' | 'close'
>;

/** Makes the server. The engine is opened with the first program. */
export function programServer(
  engine: Pick<CodeEngine, 'id' | 'open'>,
  parts: ProgramServerParts,
): ProgramServer {
  const { name, version, logger, dispatch, finds, hidden, isTask, approve, maxCalls = MAX_CALLS } = parts;
  const { realms, close } = openRealms(engine);
  const toolOf = async (caller: Call, tool: string): Promise<PolicyTool | undefined> => {
    if (tool === SEARCH_TOOL && finds) return policyTool(tool, { annotations: { readOnly: true } });
    const listed = await parts.find(caller, tool);
    return listed && listedPolicyTool(listed);
  };
  const host: CodeHost = {
    settings: { engine, maxCalls },
    dispatch,
    realms,
    approval: approve && { approve, toolOf, log: logger },
    hasUser: false,
    isFront: (tool) => tool === CODE_TOOL || hidden.includes(tool),
  };
  const facts = { maxCalls, finds, asks: approve !== undefined, isTask };
  const { maxAskingBytes: maxBytes } = parts;
  const server = createServer<undefined, undefined, unknown>(
    {
      ...{ name, version, logger },
      tools: { [CODE_TOOL]: codeTool(facts, () => host) },
      ...(maxBytes !== undefined && { asking: { maxBytes } }),
    } as AnyServerOptions,
    { tasks: taskHostLater },
  );
  const { dispatch: answer, provideSecret, provideCluster, start, drain } = server;
  return {
    ...{ dispatch: answer, provideSecret, provideCluster, start, drain },
    async close() {
      await server.close();
      await close();
    },
  };
}

/** A tool as rules see it, by the hints of another server. */
function listedPolicyTool({ name, annotations = {} }: ListedTool): PolicyTool {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  return policyTool(name, {
    annotations: {
      ...(readOnlyHint !== undefined && { readOnly: readOnlyHint }),
      ...(destructiveHint !== undefined && { destructive: destructiveHint }),
      ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
      ...(openWorldHint !== undefined && { openWorld: openWorldHint }),
    },
  });
}
