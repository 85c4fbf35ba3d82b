import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script as everything } from '../../interop/support/everything.js';
import { type ObservedServer, startObserved } from '../../interop/support/observed-server.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const installed = fileURLToPath(new URL('../../conformance/', import.meta.url));
const official = fileURLToPath(new URL('../../interop/fixtures/sdk-v2-server.mjs', import.meta.url));
const demo = demoServer();

interface Answer {
  readonly ok: boolean;
  readonly scenarios: readonly {
    readonly name: string;
    readonly result: string;
    readonly problems: readonly string[];
  }[];
}

describe('fullmcp doctor --conformance with the official suite', () => {
  it('passes what the demo promises', async () => {
    const scenarios = ['--scenario', 'tools-list', '--scenario', 'prompts-list'];
    const ran = await fullmcp([
      'doctor',
      '--conformance',
      demo.url,
      '--suite',
      installed,
      ...scenarios,
      '--json',
    ]);
    expect(ran.exit, ran.stdout).toBe(0);
    const answer = ran.json<Answer>();
    expect(answer).toMatchObject({ ok: true, revision: '2026-07-28', passed: 2, failed: 0 });
    expect(answer.scenarios.map(({ name }) => name)).toEqual(['tools-list', 'prompts-list']);
  });

  it('fails, and says why, if the server lacks what a scenario needs', async () => {
    const ran = await fullmcp([
      ...['doctor', '--conformance', demo.url, '--suite', installed, '--revision', '2025-11-25'],
      ...['--scenario', 'tools-call-simple-text', '--scenario', 'server-initialize'],
    ]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toContain('failed  tools-call-simple-text\n');
    expect(ran.stdout).toContain('passed  server-initialize\n');
    expect(ran.stderr).toContain('1 passed, 1 failed');
  });
});

/** The result of each scenario, by its name. */
async function results(words: readonly string[], scenarios: readonly string[]) {
  const chosen = scenarios.flatMap((name) => ['--scenario', name]);
  const ran = await fullmcp(['doctor', '--conformance', '--suite', installed, '--json', ...chosen, ...words]);
  const answer = ran.json<Answer>();
  expect(ran.exit, ran.stdout).toBe(answer.ok ? 0 : 1);
  expect(ran.stderr).not.toContain('"level"');
  return Object.fromEntries(answer.scenarios.map(({ name, result }) => [name, result]));
}

describe('fullmcp doctor --conformance with servers that others have written', () => {
  const servers: Record<string, ObservedServer> = {};
  beforeAll(async () => {
    servers['everything'] = await startObserved(everything, 'streamableHttp');
    servers['official'] = await startObserved(official, 'http');
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

  it('runs against the address of server-everything, by the revision that it speaks', async () => {
    const words = [`${servers['everything']?.origin}/mcp`, '--revision', '2025-11-25'];
    expect(await results(words, ['server-initialize', 'ping', 'tools-list', 'prompts-get-simple'])).toEqual({
      ...{ 'server-initialize': 'passed', ping: 'passed', 'tools-list': 'passed' },
      'prompts-get-simple': 'failed',
    });
  });

  it('runs against the address of a server of the official SDK v2', async () => {
    expect(await results([`${servers['official']?.origin}/mcp`], ['resources-list', 'prompts-list'])).toEqual(
      {
        'resources-list': 'passed',
        'prompts-list': 'failed',
      },
    );
  });

  it.each([
    ['server-everything', [process.execPath, everything, 'stdio'], '2025-11-25', 'passed'],
    ['a server of the official SDK v2', [process.execPath, official, 'stdio'], '2026-07-28', 'failed'],
  ])(
    'runs against %s as a program, through a proxy that protects it',
    async (_, command, revision, tools) => {
      const words = ['--revision', revision, '--', ...command];
      expect(await results(words, ['tools-list', 'dns-rebinding-protection'])).toEqual({
        'tools-list': tools,
        'dns-rebinding-protection': 'passed',
      });
    },
  );
});
