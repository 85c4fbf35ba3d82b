import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';
import { folder, HOSTILE, UNSAFE } from './support.js';

const files = await folder();
const demo = demoServer();
const isOld = Number(process.versions.node.split('.')[0]) < 22;

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
    const ran = await fullmcp(['doctor', '--conformance', demo.url, '--suite', files]);
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
    const ran = await fullmcp([
      'doctor',
      '--conformance',
      '--suite',
      home,
      demo.url,
      '--header',
      'X-Key: abc',
    ]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout.split('\n').filter((line) => /^\w/.test(line))).toEqual(['passed  one', 'failed  two']);
    for (const character of UNSAFE) expect(ran.stdout + ran.stderr).not.toContain(character);
    const json = await fullmcp([
      'doctor',
      '--conformance',
      '--suite',
      home,
      demo.url,
      '--scenario',
      'one',
      '--json',
    ]);
    expect(json.json()).toEqual({
      ...{ ok: true, suite: '9.9.9', revision: '2026-07-28', passed: 1, failed: 0, skipped: 0 },
      notApplicable: 0,
      scenarios: [{ name: 'one', result: 'passed', tests: 'server', checks: 1, problems: [] }],
    });
    const wrong = await fullmcp(['doctor', '--conformance', '--suite', home, demo.url, '--scenario', 'onee']);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining('Did you mean "one') });
  });

  it('does not run scenarios whose tools the server lacks, and marks those that test the proxy', async () => {
    const code = `
      import { mkdirSync, writeFileSync } from 'node:fs';
      const [command, ...args] = process.argv.slice(2);
      const value = (name) => args[args.indexOf(name) + 1];
      const names = ['tools-call-image', 'resources-read-text', 'dns-rebinding-protection', 'tools-list'];
      if (command === 'list') console.log(names.map((name) => '  - ' + name + ' [2026-07-28]').join('\\n'));
      else {
        mkdirSync(value('-o') + '/x');
        const status = value('--scenario') === 'tools-call-image' ? 'FAILURE' : 'SUCCESS';
        writeFileSync(value('-o') + '/x/checks.json', JSON.stringify([{ id: 'a', status }]));
      }`;
    const home = await suite('fixtures', code);
    const plain = await fullmcp(['doctor', '--conformance', '--suite', home, demo.url, '--json']);
    expect(plain.json()).toMatchObject({ ok: true, passed: 2, failed: 0, notApplicable: 2 });
    const through = await fullmcp([
      'doctor',
      '--conformance',
      '--suite',
      home,
      demo.url,
      '--header',
      'X-Key: abc',
    ]);
    expect(through.exit, through.stderr).toBe(0);
    expect(through.stdout.split('\n').filter((line) => /^\w/.test(line))).toEqual([
      'not applicable tools-call-image',
      'not applicable resources-read-text',
      'passed  dns-rebinding-protection  tests the proxy',
      'passed  tools-list',
    ]);
    expect(through.stdout).toContain('needs test_image_content, which a server has only for this test');
    const named = await fullmcp([
      ...['doctor', '--conformance', '--suite', home, demo.url, '--scenario', 'tools-call-image'],
    ]);
    expect(named).toMatchObject({ exit: 1, stdout: expect.stringContaining('failed  tools-call-image') });
  });

  it('fails if the suite breaks', async () => {
    const home = await suite('broken', 'console.log("Cannot start"); process.exit(3);');
    const ran = await fullmcp(['doctor', '--conformance', '--suite', home, demo.url, '--json']);
    expect(ran.exit).toBe(1);
    const message = (ran.json() as { error: { message: string } }).error.message;
    expect(message).toContain(isOld ? 'The suite needs Node 22 or later' : 'Cannot start');
    expect(message.split('\n')).toHaveLength(1);
  });
});
