import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createServer, ToolError, tool } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { script as everything } from '../../interop/support/everything.js';
import { until } from '../../support/until.js';
import { HOSTILE, UNSAFE } from '../check/support.js';
import { fullmcp } from '../support/run-cli.js';
import { afterwards } from './support.js';

const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));

interface BenchJson {
  readonly ok: boolean;
  readonly requests: number;
  readonly failed: number;
  readonly failures: Record<string, number>;
  readonly perSecond: number;
  readonly ms: Record<'min' | 'mean' | 'p50' | 'p90' | 'p95' | 'p99' | 'max', number>;
}

/** A server that counts its calls, and those that run at the same time. */
async function counting() {
  const seen = { calls: 0, open: 0, most: 0, cancelled: 0 };
  const server = createServer({
    name: 'shop',
    version: '1.0.0',
    logger: () => undefined,
    tools: {
      add: tool({
        annotations: { readOnly: true },
        input: z.object({ a: z.number(), b: z.number() }),
        async run({ a, b }) {
          seen.calls += 1;
          seen.open += 1;
          seen.most = Math.max(seen.most, seen.open);
          await new Promise((resolve) => setImmediate(resolve));
          seen.open -= 1;
          return String(a + b);
        },
      }),
      sometimes: tool({
        run() {
          seen.calls += 1;
          if (seen.calls % 2 === 0) throw new ToolError(HOSTILE);
          return 'yes';
        },
      }),
      never: tool({
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            seen.calls += 1;
            signal.addEventListener('abort', () => {
              seen.cancelled += 1;
              reject(new Error('cancelled'));
            });
          }),
      }),
      fails: tool({
        run() {
          seen.calls += 1;
          throw new Error('always');
        },
      }),
    },
  });
  const running = await serve(server, { port: 0, signals: false });
  afterwards(() => running.close());
  return { url: running.url, seen };
}

describe('fullmcp bench', () => {
  it('calls a tool exactly as often as asked, so many at a time, and prints percentiles in order', async () => {
    const { url, seen } = await counting();
    const line = ['bench', url, 'add', 'a=1', 'b=2', '--requests', '40', '--concurrency', '4'];
    const { exit, json, stderr } = await fullmcp([...line, '--json']);
    expect(exit).toBe(0);
    const { ms, ...answer } = json<BenchJson>();
    expect(answer).toMatchObject({ ok: true, tool: 'add', requests: 40, failed: 0, failures: {} });
    const inOrder = [ms.min, ms.p50, ms.p90, ms.p95, ms.p99, ms.max];
    expect(inOrder).toEqual([...inOrder].sort((a, b) => a - b));
    expect(ms.mean).toBeGreaterThanOrEqual(ms.min);
    expect(ms.mean).toBeLessThanOrEqual(ms.max);
    expect(seen).toMatchObject({ calls: 40 });
    expect(seen.most).toBeLessThanOrEqual(4);
    expect(stderr).toBe('');
  });

  it('says on stderr that it sends load, and on stdout the times alone', async () => {
    const { url } = await counting();
    const { stdout, stderr } = await fullmcp(['bench', url, 'add', 'a=1', 'b=2', '--requests', '10']);
    expect(stderr).toBe('Sending up to 10 calls of add, 1 at a time, for at most 30 s.\n');
    expect(stdout).toMatch(
      /^10 requests in [\d.]+ s, [\d.]+ per second, 0 failed\nmin .* p99 .* max [\d.]+ ms\n$/,
    );
    const narrow = await fullmcp(['bench', url, '--requests', '3'], { terminal: true, columns: 40 });
    for (const line of narrow.stdout.split('\n').slice(1, -1))
      expect(line).toMatch(/^(?=.{1,40}$)\w+ [\d.]+ ms(?: {3}\w+ [\d.]+ ms)*$/);
    const warned = await fullmcp(['bench', url, 'sometimes', '--requests', '4']);
    expect(warned.stderr).toContain('sometimes is not marked as read-only: each call may change something.');
  });

  it('pings without a tool, and calls none', async () => {
    const { url, seen } = await counting();
    const { exit, json } = await fullmcp(['bench', url, '--requests', '5', '--json']);
    expect(exit).toBe(0);
    expect(json<BenchJson>()).toMatchObject({ requests: 5, failed: 0 });
    expect(seen.calls).toBe(0);
  });

  it('counts failures by their codes, without a retry, and shows nothing that is not clean', async () => {
    const { url, seen } = await counting();
    const { exit, json } = await fullmcp(['bench', url, 'sometimes', '--requests', '10', '--json']);
    expect(exit).toBe(0);
    expect(json<BenchJson>()).toMatchObject({ requests: 10, failed: 5, failures: { tool_failed: 5 } });
    expect(seen.calls).toBe(10);
    const { stdout, stderr } = await fullmcp(['bench', url, 'sometimes', '--requests', '2']);
    expect(stderr).toContain('The first failure: ');
    for (const unsafe of UNSAFE) expect(stdout + stderr).not.toContain(unsafe);
  });

  it('fails if every request fails', async () => {
    const { url } = await counting();
    const { exit, json } = await fullmcp(['bench', url, 'fails', '--requests', '3', '--json']);
    expect(exit).toBe(1);
    expect(json()).toMatchObject({ ok: false, error: { kind: 'failed', requests: 3, failed: 3 } });
  });

  it('ends at --duration against a tool that never answers, and cancels its calls', async () => {
    const { url, seen } = await counting();
    const line = ['bench', url, 'never', '--duration', '300ms', '--concurrency', '3', '--json'];
    const { exit, json } = await fullmcp(line);
    expect(exit).toBe(7);
    expect(json()).toMatchObject({ ok: false, error: { kind: 'timeout' } });
    expect(seen.calls).toBe(3);
    await until('all calls are cancelled', () => seen.cancelled === 3);
  });

  it('ends at Ctrl+C', async () => {
    const { url } = await counting();
    const stopping = new AbortController();
    const onStderr = (): void => stopping.abort();
    expect(await fullmcp(['bench', url, 'never'], { signal: stopping.signal, onStderr })).toMatchObject({
      exit: 130,
      stdout: '',
    });
  });

  it('sends nothing to another computer without --yes, nor with wrong arguments or bounds', async () => {
    const other = await fullmcp(['bench', 'https://example.com/mcp', 'add']);
    expect(other).toMatchObject({ exit: 2, stdout: '' });
    expect(other.stderr).toContain('example.com is not this computer. Nothing was sent.');
    const { url, seen } = await counting();
    expect((await fullmcp(['bench', url, 'add', 'a=x'])).exit).toBe(2);
    expect((await fullmcp(['bench', url, 'ad'])).exit).toBe(2);
    for (const bound of [
      ['--requests', '100001'],
      ['--requests', '0'],
      ['--concurrency', '101'],
      ['--duration', '11m'],
    ])
      expect((await fullmcp(['bench', url, 'add', 'a=1', 'b=2', ...bound])).exit, String(bound)).toBe(2);
    expect(seen.calls).toBe(0);
  });

  it.each([
    ['server-everything', everything, ['get-sum', 'a=1', 'b=2']],
    ['a server of the official SDK v2', official, ['add', 'a=1', 'b=2']],
  ])('measures %s', async (_, script, call) => {
    const { exit, json } = await fullmcp([
      'bench',
      ...call,
      '--requests',
      '5',
      '--json',
      '--',
      process.execPath,
      script,
      'stdio',
    ]);
    expect(exit).toBe(0);
    expect(json<BenchJson>()).toMatchObject({ requests: 5, failed: 0 });
  });
});
