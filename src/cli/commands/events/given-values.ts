// The values that a person types for the arguments of a subscription, or for the data of an event.

import type { JsonObject } from '../../../jsonrpc/message.js';
import type { ListedTool } from '../../../protocol/model/model.js';
import { checkArguments } from '../../arguments/check-arguments.js';
import { readArguments } from '../../arguments/read-arguments.js';
import { askMissing } from '../../asking/ask-arguments.js';
import type { Typed } from '../../command/definition.js';

/** Reads `name=value` words by a schema, asks a person for what is missing, and checks everything before it is sent. */
export async function givenValues(
  described: Pick<ListedTool, 'name' | 'inputSchema'>,
  words: readonly string[],
  input: Typed,
): Promise<JsonObject> {
  const given = readArguments(words, described.inputSchema);
  const asked = await askMissing(described, given, input);
  const values = { ...given, ...Object.fromEntries(asked) };
  checkArguments(described, values, input.flag('allow-unknown'));
  return values;
}
