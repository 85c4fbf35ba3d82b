import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const installed = fileURLToPath(new URL('../../conformance/', import.meta.url));
const demo = demoServer();

interface Answer {
  readonly ok: boolean;
  readonly scenarios: readonly {
    readonly name: string;
    readonly result: string;
    readonly problems: readonly string[];
  }[];
}

describe('fullmcp conformance with the official suite', () => {
  it('passes what the demo promises', async () => {
    const scenarios = ['--scenario', 'tools-list', '--scenario', 'prompts-list'];
    const ran = await fullmcp(['conformance', demo.url, '--suite', installed, ...scenarios, '--json']);
    expect(ran.exit, ran.stdout).toBe(0);
    const answer = ran.json<Answer>();
    expect(answer).toMatchObject({ ok: true, revision: '2026-07-28', passed: 2, failed: 0 });
    expect(answer.scenarios.map(({ name }) => name)).toEqual(['tools-list', 'prompts-list']);
  });

  it('fails, and says why, if the server lacks what a scenario needs', async () => {
    const ran = await fullmcp([
      ...['conformance', demo.url, '--suite', installed, '--revision', '2025-11-25'],
      ...['--scenario', 'tools-call-simple-text', '--scenario', 'server-initialize'],
    ]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toContain('failed  tools-call-simple-text\n');
    expect(ran.stdout).toContain('passed  server-initialize\n');
    expect(ran.stderr).toContain('1 passed, 1 failed');
  });
});
