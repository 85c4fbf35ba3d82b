import { describe, expect, it } from 'vitest';
import { createServer, inProcess, type Server, tool } from '../../../../src/index.js';
import type { JsonObject } from '../../../../src/jsonrpc/message.js';
import { readRecording } from '../../../../src/testing/recording/recording.js';
import { type Replayed, replayCalls } from '../../../../src/tooling/tape/replay-calls.js';

const clientInfo = { name: 'test', version: '1.0.0' };

/** A shop that counts what its tools did. */
function shop(options: { readonly search?: boolean } = {}): { server: Server; ran: string[] } {
  const ran: string[] = [];
  const counted = (name: string, readOnly: boolean) =>
    tool({ annotations: { readOnly }, run: () => (ran.push(name) > 0 ? 'done' : '') });
  const tools = { destroy: counted('destroy', false), look: counted('look', true) };
  return { ran, server: createServer({ name: 'shop', version: '1.0.0', tools, ...options }) };
}

interface TapedCall {
  readonly method?: string;
  readonly params: JsonObject;
  readonly capabilities?: JsonObject;
  readonly outcome?: JsonObject;
}

const DONE = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] };

function tapeOf(...calls: readonly TapedCall[]): string {
  const lines = calls.flatMap(({ method = 'tools/call', params, capabilities, outcome = DONE }, at) => [
    { call: at, at: 0, method, params, capabilities },
    { call: at, at: 1, outcome },
  ]);
  return [{ fullmcp: 'recording', version: 1 }, ...lines].map((line) => JSON.stringify(line)).join('\n');
}

async function replayed(
  server: Server,
  tape: string,
  allowed: readonly string[] = [],
): Promise<readonly Replayed[]> {
  const all: Replayed[] = [];
  const options = {
    mayCall: (name: string) => allowed.includes(name),
    secrets: new Map<string, string>(),
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    ignore: [],
    strict: false,
  };
  const requestAs = (capabilities: JsonObject) => inProcess(server, { client: clientInfo, capabilities });
  for await (const one of replayCalls(readRecording(tape), requestAs, options)) all.push(one);
  return all;
}

const DESTROY = { params: { name: 'destroy', arguments: {} } };
const THROUGH = { params: { name: 'call_tool', arguments: { name: 'destroy', arguments: {} } } };
const NOT_LISTED = { result: 'skipped', reason: expect.stringContaining('does not list it') };

describe('a tape that is replayed', () => {
  it('does not run a destructive tool of a server with search, which does not list the tool', async () => {
    const { server, ran } = shop({ search: true });
    expect(await replayed(server, tapeOf(DESTROY))).toMatchObject([NOT_LISTED]);
    expect(ran).toEqual([]);
    expect(await replayed(server, tapeOf(DESTROY), ['destroy'])).toMatchObject([{ result: 'same' }]);
    expect(ran).toEqual(['destroy']);
  });

  it('does not run a destructive tool through call_tool, even if call_tool is allowed', async () => {
    const { server, ran } = shop({ search: true });
    for (const allowed of [[], ['call_tool']])
      expect(await replayed(server, tapeOf(THROUGH), allowed)).toMatchObject([NOT_LISTED]);
    expect(ran).toEqual([]);
    expect(await replayed(server, tapeOf(THROUGH), ['destroy'])).toMatchObject([{ result: 'same' }]);
    expect(ran).toEqual(['destroy']);
  });

  it('does not take a tool named call_tool for part of a search if the server lists no search', async () => {
    let ran = 0;
    const own = tool({ input: { type: 'object' }, run: () => `${++ran}` });
    const look = tool({ annotations: { readOnly: true }, run: () => 'done' });
    const server = createServer({ name: 'own', version: '1.0.0', tools: { call_tool: own, look } });
    const tape = tapeOf({ params: { name: 'call_tool', arguments: { name: 'look' } } });
    expect(await replayed(server, tape)).toMatchObject([{ result: 'skipped' }]);
    expect(ran).toBe(0);
    await replayed(server, tape, ['call_tool']);
    expect(ran).toBe(1);
  });

  it('skips a tool that is gone, because a server may know tools that it does not list', async () => {
    const { server } = shop();
    const tape = tapeOf({ params: { name: 'gone', arguments: {} } });
    expect(await replayed(server, tape)).toMatchObject([NOT_LISTED]);
    expect(await replayed(server, tape, ['gone'])).toMatchObject([{ result: 'different' }]);
  });

  /** A server that lists something else than it has. */
  function lyingAbout(server: Server, toolsFor: (capabilities: object) => readonly JsonObject[]): Server {
    return Object.assign(Object.create(server) as Server, {
      dispatch: (call: Parameters<Server['dispatch']>[0]) =>
        call.method === 'tools/list'
          ? Promise.resolve({ resultType: 'complete', tools: toolsFor(call.peer.capabilities) })
          : server.dispatch(call),
    });
  }

  const entry = (readOnlyHint: boolean): JsonObject => ({
    name: 'destroy',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint },
  });

  it('does not run a tool that the tape lists as one that changes something, although the server says now that it only reads', async () => {
    const { server, ran } = shop();
    const renamed = lyingAbout(server, () => [entry(true)]);
    const listed = (readOnly: boolean): TapedCall => ({
      ...{ method: 'tools/list', params: {} },
      outcome: { resultType: 'complete', tools: [entry(readOnly)] },
    });
    expect(await replayed(renamed, tapeOf(listed(false), DESTROY))).toMatchObject([
      {},
      { result: 'skipped', reason: expect.stringContaining('may change something') },
    ]);
    expect(ran).toEqual([]);
    expect(await replayed(renamed, tapeOf(listed(true), DESTROY))).toMatchObject([{}, { result: 'same' }]);
  });

  it('goes by the list that the server has for a client with the capabilities of the call', async () => {
    const { server, ran } = shop();
    const asking = lyingAbout(server, (capabilities) => [entry(!('elicitation' in capabilities))]);
    const tape = tapeOf({ ...DESTROY, capabilities: {} }, { ...DESTROY, capabilities: { elicitation: {} } });
    expect(await replayed(asking, tape)).toMatchObject([{ result: 'same' }, { result: 'skipped' }]);
    expect(ran).toEqual(['destroy']);
  });

  it('does not run a tool that is listed twice, unless each entry says that the tool only reads', async () => {
    const { server, ran } = shop();
    const lying = lyingAbout(server, () => [entry(false), entry(true)]);
    expect(await replayed(lying, tapeOf(DESTROY))).toMatchObject([{ result: 'skipped' }]);
    expect(ran).toEqual([]);
  });

  it('sends a method that the protocol does not define only if that is allowed', async () => {
    const { server } = shop();
    const tape = tapeOf({ method: 'acme/pay', params: {} });
    expect(await replayed(server, tape)).toMatchObject([{ result: 'skipped' }]);
    expect(await replayed(server, tape, ['acme/pay'])).toMatchObject([{ result: 'different' }]);
  });
});
