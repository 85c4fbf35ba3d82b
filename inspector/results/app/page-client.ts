// The client of an app: its calls and reads go through the process behind the page, so that each of them is in the timeline.

import type { AppClient } from '../../../src/client/apps/read-app.js';
import { ToolCallResult, toReadResult, withSource } from '../../../src/client/calls/read-results.js';
import type { ReadResult } from '../../../src/client/model/client.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { McpError } from '../../../src/protocol/errors.js';
import type { ListedTool } from '../../../src/protocol/model/model.js';
import { run } from '../../state/api.js';
import { outcomeOf, settled } from '../../state/settled.js';
import { catalogs, connections } from '../../state/store.js';

/** An app may not fill the memory of the page. */
const MAX_BYTES = 20_000_000;

/** A client that has the tools and the resources of one connection, and nothing else. */
export function pageClient(connection: string): AppClient {
  const server = (): string => connections.value.get(connection)?.name ?? connection;

  async function end(started: Promise<{ story: number }>, signal?: AbortSignal): Promise<JsonObject> {
    const { story: id } = await started;
    const stop = (): void => void run('stop', { story: id }).catch(() => undefined);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await outcome(await settled(id, signal));
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  return {
    tools: () => listing(() => listedTools(connection)),
    async callTool(name, args = {}, { signal } = {}) {
      const input = { connection, tool: name, args: args as JsonObject };
      return new ToolCallResult(await end(run('call', input), signal), { name, id: undefined }, server());
    },
    async readResource(uri, { signal } = {}) {
      const result = await end(run('read', { connection, uri }), signal);
      return withSource<ReadResult>(toReadResult({ ...result, resultType: 'complete' }), {
        server: server(),
        method: 'resources/read',
        name: uri,
        requestId: undefined,
      });
    },
  };
}

function listedTools(connection: string): readonly ListedTool[] {
  return (catalogs.value.get(connection)?.tools ?? []).map(({ tool }) => tool as unknown as ListedTool);
}

function listing<T>(items: () => readonly T[]): { all: () => Promise<readonly T[]> } & AsyncIterable<T> {
  return {
    all: async () => items(),
    async *[Symbol.asyncIterator]() {
      yield* items();
    },
  };
}

async function outcome(story: Story): Promise<JsonObject> {
  if (story.state === 'cancelled') throw new McpError('cancelled', 'The call was stopped.');
  const { error } = story;
  if (error !== undefined && story.state === 'error') throw new McpError('bad_response', error.message);
  if ((story.outcomeBytes ?? 0) > MAX_BYTES)
    throw new McpError('bad_response', 'The result is too large for an app.');
  const result = await outcomeOf(story);
  if (result === undefined) throw new McpError('bad_response', 'The result is no longer there.');
  return result;
}
