import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, UNSAFE } from './support.js';

const files = await folder();
const demo = demoServer();

/** Installs a suite in a folder, whose program is this code. */
async function suite(name: string, code: string): Promise<string> {
  const home = join(files, name, 'node_modules/@modelcontextprotocol/conformance');
  await mkdir(home, { recursive: true });
  await writeFile(
    join(home, 'package.json'),
    '{ "version": "9.9.9", "type": "module", "bin": { "conformance": "suite.js" } }',
  );
  await writeFile(join(home, 'suite.js'), code);
  return join(files, name);
}

describe('fullmcp conformance', () => {
  it('says how to install the suite', async () => {
    const ran = await fullmcp(['conformance', demo.url, '--suite', files]);
    expect(ran).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('npm install --save-dev @modelcontextprotocol/conformance'),
    });
  });

  it('serves a target that needs headers, runs the scenarios of the revision, and hides nothing', async () => {
    const code = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      const [command, ...args] = process.argv.slice(2);
      const value = (name) => args[args.indexOf(name) + 1];
      if (command === 'list') console.log('  - one [2025-11-25,2026-07-28]\\n  - two [2026-07-28]\\n  - old [2025-06-18]\\n  - more [extension]');
      else {
        const { status } = await fetch(value('--url'));
        const bad = { id: 'bad', status: 'FAILURE', errorMessage: ${JSON.stringify(HOSTILE)} + status };
        mkdirSync(value('-o') + '/x');
        const checks = value('--scenario') === 'one' ? [{ id: 'a', status: 'SUCCESS' }] : [bad];
        writeFileSync(value('-o') + '/x/checks.json', JSON.stringify(checks));
      }`;
    const home = await suite('fake', code);
    const ran = await fullmcp(['conformance', '--suite', home, demo.url, '--header', 'X-Key: abc']);
    expect(ran.exit).toBe(1);
    expect(ran.stdout.split('\n').filter((line) => /^\w/.test(line))).toEqual(['passed  one', 'failed  two']);
    for (const character of UNSAFE) expect(ran.stdout + ran.stderr).not.toContain(character);
    const json = await fullmcp(['conformance', '--suite', home, demo.url, '--scenario', 'one', '--json']);
    expect(json.json()).toEqual({
      ...{ ok: true, suite: '9.9.9', revision: '2026-07-28', passed: 1, failed: 0, skipped: 0 },
      scenarios: [{ name: 'one', result: 'passed', checks: 1, problems: [] }],
    });
    const wrong = await fullmcp(['conformance', '--suite', home, demo.url, '--scenario', 'onee']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Close: one') });
  });

  it('fails if the suite breaks', async () => {
    const home = await suite('broken', 'console.log("Cannot start"); process.exit(3);');
    const ran = await fullmcp(['conformance', '--suite', home, demo.url, '--json']);
    expect(ran.exit).toBe(1);
    expect(ran.json()).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('Cannot start') },
    });
  });
});
