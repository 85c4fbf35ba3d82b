import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { createServer, tool } from '../../../../src/index.js';
import { serve } from '../../../../src/node.js';

const MOST_FRAMES = 9;
const page = readFileSync(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8');

let running: Awaited<ReturnType<typeof serve>> | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

describe('the stack trace in a tool that is called over HTTP', () => {
  test('names the frames that docs/architecture.md lists, each once, and at most nine of them', async () => {
    const listed = listedFrames();
    const traced = await tracedFrames();
    expect(traced).toEqual(listed);
    expect(listed.length).toBeLessThanOrEqual(MOST_FRAMES);
    expect(new Set(listed).size).toBe(listed.length);
  });
});

/** The frames as the page lists them, the outermost first. */
function listedFrames(): string[] {
  const list = /`(\w+(?: → \w+)+ → runTool → run)`/.exec(page)?.[1];
  return list?.split(' → ') ?? [];
}

/** The frames between Node's own and the end of the tool, the outermost first. */
async function tracedFrames(): Promise<string[]> {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 50;
  try {
    const server = createServer({
      name: 'traced',
      version: '1.0.0',
      tools: {
        trace: tool({ description: 'Returns its stack trace', run: () => String(new Error().stack) }),
      },
    });
    running = await serve(server, { port: 0, signals: false });
    const { result } = (await (await callTrace(running.url)).json()) as {
      readonly result: { readonly content: readonly [{ readonly text: string }] };
    };
    return frameNames(result.content[0].text);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function callTrace(url: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'trace',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'trace',
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
}

// "at Class.name [as alias] (file:///…)": the name of the function, without its class.
function frameNames(stack: string): string[] {
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('(node:'));
  const ours = lines.filter((line) => !line.includes('node:internal'));
  return ours.map((line) => /^\s+at (?:async )?(?:[\w$]+\.)*([\w$#]+)/.exec(line)?.[1] ?? line).reverse();
}
