import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { demoServer } from '../support/demo.js';
import { fullmcp, type Ran } from '../support/run-cli.js';

// The commands that use a server, against our demo and against servers that others have written.

const demo = demoServer();
const path = (from: string): string => fileURLToPath(new URL(from, import.meta.url));
const start = (...args: string[]): readonly string[] => ['--', process.execPath, ...args];

interface Peer {
  readonly peer: string;
  /** The command that starts it; undefined for the demo, which runs already. */
  readonly target: readonly string[] | undefined;
  readonly tool: { readonly words: readonly string[]; readonly text: string };
  readonly failing: readonly string[];
  readonly uri: string;
  readonly read: string;
  readonly prompt: { readonly words: readonly string[]; readonly text: string };
  readonly completion: { readonly words: readonly string[]; readonly values: readonly string[] };
}

const peers: readonly Peer[] = [
  {
    peer: 'the demo',
    target: undefined,
    tool: { words: ['add', 'a=1', 'b=2'], text: '3' },
    failing: ['add', 'a=one', 'b=2'],
    uri: 'demo://readme',
    read: 'demo',
    prompt: { words: ['explain', 'topic=bread'], text: 'bread' },
    completion: { words: ['prompt', 'explain', 'topic', 'br'], values: ['bridges', 'bread'] },
  },
  {
    peer: 'server-everything',
    target: start(everything, 'stdio'),
    tool: { words: ['get-sum', 'a=1', 'b=2'], text: 'The sum of 1 and 2 is 3.' },
    failing: ['get-sum', 'a=one', 'b=2'],
    uri: 'demo://resource/static/document/features.md',
    read: '# Everything Server',
    prompt: { words: ['args-prompt', 'city=Ulm'], text: 'Ulm' },
    completion: { words: ['prompt', 'completable-prompt', 'department', 'E'], values: ['Engineering'] },
  },
  {
    peer: 'a server of the official SDK v2',
    target: start(path('../../interop/fixtures/sdk-v2-server.mjs'), 'stdio'),
    tool: { words: ['add', 'a=1', 'b=2'], text: '3' },
    failing: ['fail'],
    uri: 'text://hello',
    read: 'hello',
    prompt: { words: ['review', 'code=1+1', 'language=rust'], text: '1+1' },
    completion: { words: ['prompt', 'review', 'language', 't'], values: ['typescript', 'tcl'] },
  },
];

describe.each(peers)('$peer', ({ target, tool, failing, uri, read, prompt, completion }) => {
  const run = (command: string, ...words: string[]): Promise<Ran> =>
    fullmcp(target ? [command, ...words, ...target] : [command, demo.url, ...words]);
  const [name = ''] = tool.words;

  it('is listed', async () => {
    const { exit, stdout, stderr } = await run('list');
    expect(exit).toBe(0);
    expect(stdout).toContain(`${name}(`);
    expect(stdout).toContain(uri);
    expect(stderr).toMatch(/\d+ tools/);
    const listed = (await run('list', 'tools', '--json')).json<{ tools: { name: string }[] }>();
    expect(listed.tools.map((one) => one.name)).toContain(name);
  });

  it('says what it is, and answers pings', async () => {
    expect((await run('info')).stdout).toMatch(
      /^name .+\nspeaks +MCP 2025-11-25|^name .+\nspeaks +MCP 2026-07-28/,
    );
    expect((await run('info', '--json')).json()).toMatchObject({ ok: true });
    const { exit, stdout } = await run('ping', '--count', '2');
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^round trip +[\d.]+ ms, [\d.]+ ms$/m);
  });

  it('is called: only the value is on stdout', async () => {
    expect(await run('call', ...tool.words)).toMatchObject({ exit: 0, stdout: `${tool.text}\n` });
    const { exit, json } = await run('call', ...tool.words, '--json');
    expect({ exit, ...json() }).toMatchObject({ exit: 0, ok: true, tool: name, text: tool.text });
  });

  it('fails with an exit code and a sentence', async () => {
    const failed = await run('call', ...failing);
    expect(failed.exit).not.toBe(0);
    expect(failed.stdout + failed.stderr).not.toBe('');
    expect((await run('call', ...failing, '--json')).json()).toMatchObject({ ok: false });
    expect(await run('call', `${name}x`)).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringContaining(`Did you mean "${name}`),
    });
  });

  it('is read', async () => {
    const { exit, stdout } = await run('read', uri);
    expect(exit).toBe(0);
    expect(stdout.toLowerCase()).toContain(read.toLowerCase());
    expect((await run('read', uri, '--json')).json()).toMatchObject({ ok: true, uri });
    expect((await run('read', 'nothing://here')).exit).not.toBe(0);
  });

  it('gives a prompt', async () => {
    const { exit, stdout } = await run('prompt', ...prompt.words);
    expect(exit).toBe(0);
    expect(stdout).toContain(prompt.text);
    expect((await run('prompt', ...prompt.words, '--json')).json()).toMatchObject({ ok: true });
  });

  it('completes an argument', async () => {
    const { exit, stdout } = await run('complete', ...completion.words);
    expect({ exit, values: stdout.trimEnd().split('\n') }).toEqual({ exit: 0, values: completion.values });
    expect((await run('complete', ...completion.words, '--json')).json()).toMatchObject({
      ok: true,
      values: completion.values,
    });
  });
});

describe('the longer flows of others', () => {
  const official = start(path('../../interop/fixtures/sdk-v2-server.mjs'), 'stdio');

  it('a question of the official SDK v2 is answered from the line', async () => {
    const { exit, stdout } = await fullmcp(['call', 'name', '--answer', 'name=Ada', ...official]);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining('"name":"Ada"') });
  });

  it('progress of server-everything does not reach stdout', async () => {
    const words = ['call', 'trigger-long-running-operation', 'duration=1', 'steps=2'];
    const { stdout } = await fullmcp([...words, ...start(everything, 'stdio')], { terminal: true });
    expect(stdout).toBe('Long running operation completed. Duration: 1 seconds, Steps: 2.\n');
  });

  it('a task of server-everything is awaited', async () => {
    const words = ['call', 'simulate-research-query', 'topic=bridges'];
    const { exit, stdout } = await fullmcp([...words, ...start(everything, 'stdio')]);
    expect(exit).toBe(0);
    expect(stdout).toContain('Research Report: bridges');
  });
});

it('server-everything shows the tools that ask to every command, because every command says that it can answer', async () => {
  const target = start(everything, 'stdio');
  const listed = await fullmcp(['list', 'tools', '--json', ...target]);
  const { tools } = listed.json<{ readonly tools: readonly { readonly name: string }[] }>();
  expect(tools.map(({ name }) => name)).toContain('trigger-elicitation-request');
  const inspected = await fullmcp(['manifest', '--json', ...target]);
  expect(inspected.stdout).toContain('"trigger-elicitation-request"');
});
