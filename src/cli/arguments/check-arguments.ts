// Finds the tool that was typed, and checks the arguments before anything is sent.

import type { Client } from '../../client/model/client.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import type { ListedTool } from '../../protocol/model/model.js';
import { compileSchema } from '../../schema/compile.js';
import { closestName } from '../../schema/explain/closest-name.js';
import { explain } from '../../schema/explain/explain.js';
import type { JsonSchema } from '../../schema/schema.js';
import { usageError } from '../command/failures.js';
import { parameters } from '../terminal/signature.js';

/** The tool with this name. A near name is a hint in the error, and is never called. */
export async function findTool(client: Client, name: string): Promise<ListedTool> {
  const tools = await client.tools().all();
  const found = tools.find((tool) => tool.name === name);
  if (found) return found;
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

/** Throws if the arguments do not fit the schema of the tool. A schema that cannot be compiled is left to the server. */
export async function checkArguments(tool: ListedTool, args: JsonObject): Promise<void> {
  const problem = await problemOf(tool, args);
  if (problem === undefined) return;
  const usage = `${tool.name}(${parameters(tool.inputSchema)})`;
  throw usageError(`Wrong arguments for ${tool.name}. Nothing was sent.\n${problem}\n  ${usage}`, {
    sent: false,
    problem,
  });
}

async function problemOf(tool: ListedTool, args: JsonObject): Promise<string | undefined> {
  try {
    const compiled = compileSchema(tool.inputSchema as JsonSchema, { io: 'output' });
    const result = await compiled.validate(args);
    return result.ok ? undefined : explain(result.issues, compiled, args);
  } catch {
    return undefined;
  }
}
