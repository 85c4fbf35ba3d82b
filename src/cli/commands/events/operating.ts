// A command that operates the events of a server of one's own.

import { type EventOperator, isNotOperated, operatorOf } from '../../../tooling/operator/operator.js';
import type { Typed } from '../../command/definition.js';
import { CommandError } from '../../command/failures.js';
import { type Opened, withTarget } from '../../target/open.js';
import { isScript } from '../../target/read-target.js';

/** A connection to a server of one's own. */
export interface Operated extends Opened {
  readonly operator: EventOperator;
}

/** Connects to the server that was typed, and runs `use` as its operator. */
export function operating(input: Typed, use: (opened: Operated) => Promise<void>): Promise<void> {
  return withTarget(input, async (opened) => {
    try {
      await use({ ...opened, operator: operatorOf(opened.client) });
    } catch (error) {
      throw isNotOperated(error) ? notOperated(opened) : error;
    }
  });
}

function notOperated({ target: { word, typed } }: Opened): CommandError {
  const reason = isScript(word)
    ? `${typed} serves by itself or exports a server without events. Export a server that has them.`
    : `${typed} has no operator: only a file that exports a server has, and the address of \`fullmcp dev\`. Name one of these.`;
  return new CommandError('failed', reason);
}

/** The note about a server whose process ended with the command: other processes know its events only through a store that they share. */
export function processNote({ target, client }: Opened): string | undefined {
  return isScript(target.word) && client.info().transport === 'stdio'
    ? 'The server was started for this command. It shares events and webhooks with other processes only through a store. If yours is in memory, name the address of `fullmcp dev` instead.'
    : undefined;
}
