import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { SpanKind } from '@opentelemetry/api';
import { createServer, memoryBus, memoryStore, type Revision, tool } from 'fullmcp';
import { connect } from 'fullmcp/client';
import { telemetry } from 'fullmcp/otel';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpProcess, startHttp } from '../../../support/processes.js';
import { until } from '../../../support/until.js';
import { memoryOtel, type SeenSpan } from './memory-otel.js';

const script = fileURLToPath(new URL('./fixtures/traced-server.mjs', import.meta.url));

interface WrittenSpan extends SeenSpan {
  readonly process: string;
}

/** The spans that other processes have written so far. */
function spansFile(): { readonly path: string; readonly read: () => readonly WrittenSpan[] } {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-spans-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'spans');
  const read = (): readonly WrittenSpan[] => {
    try {
      return readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    } catch {
      return [];
    }
  };
  return { path, read };
}

/** Starts a server over HTTP in a process of its own. */
async function start(settings: object): Promise<HttpProcess> {
  const app = await startHttp(script, JSON.stringify({ ...settings, http: true }));
  onTestFinished(async () => void (await app.stop()));
  return app;
}

type Way = 'stdio' | 'http' | 'http+sse' | 'websocket';
const ways: readonly (readonly [Way, Revision])[] = [
  ['stdio', '2026-07-28'],
  ['stdio', '2025-11-25'],
  ['http', '2026-07-28'],
  ['http', '2025-11-25'],
  ['http+sse', '2024-11-05'],
  ['websocket', '2026-07-28'],
  ['websocket', '2025-11-25'],
];

const onWay = (url: string, way: Way): string => {
  if (way === 'http+sse') return url.replace(/\/mcp$/, '/sse');
  return way === 'websocket' ? url.replace(/^http/, 'ws') : url;
};

describe('the trace of three processes', () => {
  it.each(ways)('is one, with correct parents: %s %s', async (way, revision) => {
    const otel = memoryOtel();
    const { tracerProvider, meterProvider } = otel;
    const written = spansFile();
    const settings = { spans: written.path, revision, name: 'outer' };
    let target: Parameters<typeof connect>[0];
    if (way === 'stdio') target = { command: process.execPath, args: [script, JSON.stringify(settings)] };
    else {
      const inner = await start({ ...settings, name: 'inner' });
      const outer = await start({ ...settings, next: onWay(inner.url, way) });
      target = onWay(outer.url, way);
    }
    {
      const use = [telemetry({ tracerProvider, meterProvider })];
      await using client = await connect(target, { revision, use });
      expect(client.info().transport).toBe(way);
      const { text } = await otel.inSpan('program', () => client.callTool('forward'));
      expect(text).toBe('done');
    }
    await until(
      'all spans are written',
      () => written.read().filter(({ name }) => name.startsWith('tools/call')).length === 3,
    );
    const spans = [...written.read(), ...otel.spans().map((span) => ({ ...span, process: 'test' }))];
    const line: string[] = [];
    let span = spans.find((one) => one.process === 'inner' && one.name === 'tools/call leaf');
    const trace = span?.trace;
    while (span !== undefined) {
      expect(span.trace).toBe(trace);
      line.unshift(`${span.process}: ${SpanKind[span.kind]} ${span.name}`);
      const { parent } = span;
      span = spans.find(({ id }) => id === parent);
    }
    expect(line).toEqual([
      'test: INTERNAL program',
      'test: CLIENT tools/call forward',
      'outer: SERVER tools/call forward',
      'outer: CLIENT tools/call leaf',
      'inner: SERVER tools/call leaf',
    ]);
  });
});

describe('a task that another process takes up', () => {
  it('stays in the trace of the call that made it', async () => {
    const otel = memoryOtel();
    const { tracerProvider, meterProvider } = otel;
    const use = [telemetry({ tracerProvider, meterProvider })];
    const store = memoryStore();
    const bus = memoryBus();
    const runs: string[] = [];
    const life = (name: string) =>
      createServer({
        name: 'shared',
        version: '1.0.0',
        secret: 'x'.repeat(32),
        logger: () => undefined,
        use,
        store: { ...store, close: async () => undefined },
        bus: { ...bus, close: async () => undefined },
        tools: {
          slow: tool({
            description: 'Runs until the second process has it.',
            task: 'required',
            async run(_, ctx) {
              runs.push(name);
              if (name === 'first')
                await new Promise((_resolve, reject) => {
                  ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
                });
              return otel.inSpan(`work of ${name}`, async () => 'done');
            },
          }),
        },
      });
    const first = life('first');
    const client = await connect(first, { use });
    const task = await otel.inSpan('program', () => client.startTool('slow'));
    await until('the first process runs the task', () => runs.length === 1);
    await first.close();
    await using second = life('second');
    await second.start();
    await until('the second process has run the task', () =>
      otel.spans().some(({ name }) => name === 'work of second'),
    );
    await until(
      'its span has ended',
      () => otel.spans().filter(({ name }) => name === 'execute_tool slow').length === 2,
    );
    expect(task).toBeDefined();
    const made = otel
      .spans()
      .find(({ name, kind }) => name === 'tools/call slow' && kind === SpanKind.SERVER);
    const taken = otel.spans().filter(({ name }) => name === 'execute_tool slow');
    expect(taken.map(({ parent, trace }) => [parent, trace])).toEqual(
      taken.map(() => [made?.id, made?.trace]),
    );
    const work = otel.spans().find(({ name }) => name === 'work of second');
    expect(work?.parent).toBe(taken.at(-1)?.id);
    await client.close();
  });
});
