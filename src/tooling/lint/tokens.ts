// An estimate of the tokens that a definition costs in the context of a model.

import type { JsonObject } from '../../jsonrpc/message.js';

/** How the estimate is made, for people who rely on it. */
export const HOW_ESTIMATED =
  'name, description and input schema as JSON; 4 ASCII characters or 1 other character per token; tokenizers differ by about a third';

/** The estimated tokens of a tool: the parts that hosts send to models. */
export function toolTokens({ name, description, inputSchema }: JsonObject): number {
  return textTokens(JSON.stringify({ name, description, inputSchema }));
}

/** The estimated tokens of a string. */
export function textTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (const character of text) {
    if (character < '\u0080') ascii++;
    else others++;
  }
  return Math.ceil(ascii / 4 + others);
}
