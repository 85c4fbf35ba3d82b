import { inspect } from 'node:util';
import { createServer, McpError, resource, ToolError, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { testClient, wires } from 'fullmcp/testing';
import { describe, expect, it } from 'vitest';

const reason = new Error('The database is away');

function broken() {
  return createServer({
    ...{ name: 'broken', version: '1.0.0', logger: () => undefined },
    tools: {
      fail: tool({
        run: () => {
          throw reason;
        },
      }),
      refuse: tool({
        run: () => {
          throw new ToolError('No');
        },
      }),
    },
    resources: {
      'a://b': resource({
        read: () => {
          throw reason;
        },
      }),
    },
  });
}

const MASKED = /^Internal error \(ref [0-9a-f]{8}\)$/;

describe('an error that a handler throws', () => {
  it('is the cause of the masked failure for a client in the same process', async () => {
    for (const client of [await testClient(broken()), await connect(broken())]) {
      const result = await client.callTool('fail');
      expect([result.text, result.isError, result.cause]).toEqual([
        expect.stringMatching(MASKED),
        true,
        reason,
      ]);
      expect(() => result.unwrap()).toThrow(expect.objectContaining({ code: 'tool_failed', cause: reason }));
      const failure = await client.readResource('a://b').catch((error: unknown) => error);
      expect(failure).toMatchObject({ message: expect.stringMatching(MASKED), cause: reason });
      expect(JSON.stringify(result)).not.toContain('database');
      expect((await client.callTool('refuse')).cause).toBeUndefined();
      await client.close();
    }
  });

  it('does not leave the process on any wire', async () => {
    for (const { over, revision } of wires) {
      if (over === 'in-process') continue;
      const client = await testClient(broken(), { over, revision });
      const result = await client.callTool('fail');
      expect([result.cause, result.text]).toEqual([undefined, expect.stringMatching(MASKED)]);
      const failure = (await client.readResource('a://b').catch((error: unknown) => error)) as McpError;
      expect(inspect(failure, { depth: 9 })).not.toContain('database');
      await client.close();
    }
  });
});

describe('an McpError', () => {
  it('is printed without members that are not there', () => {
    expect(inspect(new McpError('timeout', 'Too late'))).not.toMatch(/undefined/);
    const full = new McpError('timeout', 'Too late', { data: { ms: 1 }, number: -32001 });
    expect(inspect(full)).toMatch(/data: \{ ms: 1 \}/);
    expect([full.data, full.number, full.challenge, full.source]).toEqual([
      { ms: 1 },
      -32001,
      undefined,
      undefined,
    ]);
  });
});
