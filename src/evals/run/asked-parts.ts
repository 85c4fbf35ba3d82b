// The parts of the requests of a case, as the server and the case make them today.

import type { ReadCase } from '../cases/case.js';
import type { ModelTarget } from '../model/target.js';
import { digestOf } from '../tape/digest.js';
import { type AskedParts, settingsOf } from '../tape/tape.js';
import type { EvalServer } from './server.js';

const SYSTEM =
  'You are an assistant with tools. Use them where they help to do what the user asks, and answer in a few words.';

/** The system prompt: that of the options, and the instructions of the server. */
export function systemOf(
  { instructions }: Pick<EvalServer, 'instructions'>,
  system: string = SYSTEM,
): string {
  return instructions === '' ? system : `${system}\n\n${instructions}`;
}

/** The digests of everything that the requests of a case are made of. */
export function askedParts(
  { ask, asks = {}, judge }: ReadCase,
  {
    server,
    system,
    target,
    judgedBy,
  }: {
    readonly server: EvalServer;
    readonly system: string;
    readonly target: ModelTarget;
    readonly judgedBy: ModelTarget | undefined;
  },
): AskedParts {
  const judging = judge !== undefined && judgedBy !== undefined ? [judge, settingsOf(judgedBy)] : [];
  return {
    ask: digestOf([ask, JSON.stringify(asks, withoutCode), ...judging]),
    system: digestOf(system),
    settings: settingsOf(target),
    offer: server.offer,
  };
}

/** The text of a function depends on the compiler. */
function withoutCode(_name: string, value: unknown): unknown {
  return typeof value === 'function' ? 'a function' : value;
}
