// The target that a generated file connects to if it is not told another one.

import type { Typed } from '../../../command/definition.js';
import { masked } from '../../../hosts/mask.js';

/** The target that was typed; undefined if a file must not have it, because it has credentials or is only a name or a manifest. */
export function defaultTarget(input: Typed): unknown {
  if (input.process) {
    const [command = '', ...args] = input.process;
    const server = { command, args };
    return JSON.stringify(masked(server)) === JSON.stringify(server) ? server : undefined;
  }
  const [word = ''] = input.words;
  if (/\.[cm]?[jt]s$/i.test(word)) return word;
  if (!/^(?:https?|wss?):/i.test(word) || !URL.canParse(word)) return undefined;
  return masked({ url: word }).url === word ? word : undefined;
}
