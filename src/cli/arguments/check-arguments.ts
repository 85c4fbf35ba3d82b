// Finds the tool that was typed, and checks the arguments before anything is sent.

import { outputCheck } from '../../client/checks/output-check.js';
import type { Client } from '../../client/model/client.js';
import type { GroupClient } from '../../connect/group/group.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { McpError } from '../../protocol/errors.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { listProblems } from '../../schema/explain/explain.js';
import { unknownFields } from '../../schema/explain/unknown-fields.js';
import { cleanLine } from '../../tooling/clean.js';
import { usageError } from '../command/failures.js';
import { parameters } from '../terminal/signature.js';

/** The tool with this name. A near name is a hint in the error, and is never called. */
export async function findTool(client: Client, name: string): Promise<ListedTool> {
  const tools = await client.tools().all();
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
  const failure = failureOfServer(client, name);
  if (failure) throw failure;
  const close = closestName(
    name,
    tools.map((tool) => tool.name),
  );
  const hint = close ? ` Close: ${close}.` : tools.length === 0 ? ' The server has none.' : '';
  throw usageError(`No tool is called ${JSON.stringify(name)}.${hint}`, {
    sent: false,
    ...(close && { close }),
  });
}

/** The error of the server that a name belongs to, if it is one of several and is left out because it failed. */
function failureOfServer(client: Client, name: string): McpError | undefined {
  const { servers = new Map() } = client as Partial<GroupClient>;
  for (const [server, { error }] of servers) if (error && name.startsWith(`${server}_`)) return error;
  return undefined;
}

/**
 * Throws if the arguments do not fit the schema of the tool, or have a name that the schema does not mention: many servers ignore those, and
 * run the tool with a default instead of what was typed. A schema that cannot be read is left to the server.
 */
export function checkArguments(tool: ListedTool, args: JsonObject): void {
  const problem = problemOf(tool, args);
  if (problem === undefined) return;
  const usage = `${cleanLine(tool.name, 128)}(${parameters(tool.inputSchema)})`;
  throw usageError(`Wrong arguments for ${tool.name}. Nothing was sent.\n${problem}\n  ${usage}`, {
    sent: false,
    problem,
  });
}

function problemOf(tool: ListedTool, args: JsonObject): string | undefined {
  try {
    const problem = outputCheck(tool.inputSchema)(args);
    if (problem !== undefined) return problem;
    const unknown = unknownFields(tool.inputSchema, args);
    return unknown.length === 0 ? undefined : listProblems(unknown);
  } catch {
    return undefined;
  }
}
