// A turn of a chat as a case for evals: the request, the calls that were made, the tools that were declined, and the answers to questions.

import type { SavedCase } from '../../evals/cases/case-file.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { lacksSecret, Secrets } from '../../testing/recording/secrets.js';
import type { InspectedConnection } from '../session/connection/connection.js';
import type { ChatCall } from './chat-call.js';

export interface Turn {
  readonly ask: string;
  readonly calls: readonly ChatCall[];
}

/** Makes the case, without secrets. A call that failed is not expected again. */
export function caseOf({ ask, calls }: Turn, connection: InspectedConnection, key: string): SavedCase {
  const { book } = connection.init.shared;
  const stories = calls.map((call) => (call.story === undefined ? undefined : book.get(call.story)));
  const made = calls.filter((call, at) => call.state === 'done' && stories[at]?.view.state === 'ok');
  const declined = [
    ...new Set(calls.filter(({ state }) => state === 'declined').map(({ tool }) => tool)),
  ].filter((tool) => !made.some((call) => call.tool === tool));
  const asks: Record<string, JsonObject> = {};
  for (const story of stories)
    for (const { asked, answer } of story?.questions ?? [])
      if (asked.key !== undefined && answer !== undefined && (asked.kind === 'form' || asked.kind === 'url'))
        asks[asked.key] = answerOf(answer);
  const secrets = new Secrets([], key === '' ? [] : [key]);
  secrets.learnFrom(connection.catalog.tools.map(({ tool }) => tool));
  const one: SavedCase = {
    ask,
    expect: made.map(({ tool, args }) => ({ tool, args })),
    ...(declined.length > 0 && { not: declined }),
    ...(Object.keys(asks).length > 0 && { asks }),
  };
  const clean = JSON.parse(connection.mask(JSON.stringify(secrets.without(one)))) as SavedCase;
  // Nothing is expected of an argument that had a secret.
  return { ...clean, expect: clean.expect.map(({ tool, args }) => ({ tool, args: withoutHidden(args) })) };
}

function answerOf({ action, content }: JsonObject): JsonObject {
  return action === 'accept' ? ((content as JsonObject | undefined) ?? { action }) : { action };
}

function withoutHidden(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => !lacksSecret(value)));
}
