import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { type ModelScript, mockModel } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { folderWith } from '../project/support.js';
import { fullmcp } from '../support/run-cli.js';
import { served } from './support.js';

const KEY = 'planted-key-of-the-user-93f1';
const PLANTED = '<script>alert(1)</script> \u202e ]]> & "quoted"';

const SERVER = `
import { createServer, tool } from 'fullmcp';
import { z } from 'zod';
export default () => createServer({ name: 'shop', version: '1.0.0', tools: {
  create_invoice: tool({ description: 'Bills.', input: z.object({ amount: z.number() }), run: () => ${JSON.stringify(PLANTED)} }),
  create_quote: tool({ description: 'Offers.', run: () => 'offered' }),
} });
`;
const EVALS = `
import { call, evals } from 'fullmcp/evals';
import shop from './server.js';
export default evals(shop, [
  { ask: 'Bill Ada 30 euros', expect: call('create_invoice', { amount: 30 }), not: ['create_quote'] },
  { ask: 'Offer Bob something', expect: 'create_quote' },
], { models: [{ api: 'anthropic', model: 'm', url: process.env.MODEL_URL ?? 'http://127.0.0.1:1', key: 'THE_KEY' }], runs: 2 });
`;

const good: ModelScript = ({ ask, results }) => {
  if (results.length > 0) return `Done: ${PLANTED}`;
  return {
    calls: [
      ask.startsWith('Bill') ? { name: 'create_invoice', args: { amount: 30 } } : { name: 'create_quote' },
    ],
  };
};

async function project(script: ModelScript = good, files: Readonly<Record<string, string>> = {}) {
  const model = await mockModel(script, { key: KEY });
  onTestFinished(() => model.close());
  const folder = await folderWith({ 'server.js': SERVER, 'evals.js': EVALS, ...files });
  vi.stubEnv('MODEL_URL', model.url);
  vi.stubEnv('THE_KEY', KEY);
  const file = join(folder, 'evals.js');
  return { folder, file, model, tapes: join(folder, 'evals.tapes') };
}

describe('fullmcp eval', () => {
  it('says what a recording would take, without a key and without a request', async () => {
    const { file, model, folder } = await project();
    vi.stubEnv('THE_KEY', '');
    const { exit, stdout, stderr } = await fullmcp(['eval', file, '--record', '--dry']);
    expect([exit, model.requests.length]).toEqual([0, 0]);
    expect(stdout).toMatch(/^m {2}4 conversations, 4 to 40 requests, about \d+ to \d+ tokens\n$/);
    expect(stderr).toContain('No model was asked.');
    expect(await readdir(folder)).not.toContain('evals.tapes');
    const alone = await fullmcp(['eval', file, '--dry']);
    expect([alone.exit, alone.stderr]).toEqual([2, expect.stringContaining('--dry is only for --record')]);
  });

  it('leaves the score of each tool on its tape, and lint shows it', async () => {
    const { file, folder } = await project(({ ask, results }) => {
      if (results.length > 0) return 'Done.';
      return { calls: [{ name: 'create_invoice', args: { amount: ask.startsWith('Bill') ? 30 : 1 } }] };
    });
    await fullmcp(['eval', file, '--record']);
    const shop = (description: string) =>
      createServer({
        name: 'shop',
        version: '1.0.0',
        tools: {
          create_invoice: tool({
            description,
            input: z.object({ amount: z.number() }),
            run: () => 'billed',
          }),
          create_quote: tool({ description: 'Offers.', run: () => 'offered' }),
        },
      });
    const [same, changed] = [await served(shop('Bills.')), await served(shop('Bills somebody.'))];
    vi.spyOn(process, 'cwd').mockReturnValue(folder);
    const shown = await fullmcp(['lint', same]);
    expect(`${shown.stderr}${shown.stdout}`).toMatch(/2 of 2 +create_invoice +m, \d{4}-\d\d-\d\d\n/);
    expect(shown.stdout).toMatch(/0 of 2 +create_quote/);
    const { scores } = (await fullmcp(['lint', changed, '--json'])).json<{ scores: object[] }>();
    expect(scores).toMatchObject([
      { tool: 'create_invoice', model: 'm', passed: 2, of: 2, isChanged: true },
      { tool: 'create_quote', passed: 0, of: 2, isChanged: false },
    ]);
  });

  it('records with models, and then replays without a key and without any connection', async () => {
    const { file, model, tapes, folder } = await project();
    const recorded = await fullmcp(['eval', file, '--record', '--json']);
    expect([recorded.exit, recorded.json()]).toMatchObject([0, { ok: true, mode: 'recorded' }]);
    expect(await readdir(tapes)).toEqual(['m.tape.jsonl']);
    const before = await digest(tapes);

    vi.stubEnv('THE_KEY', '');
    vi.stubEnv('MODEL_URL', undefined);
    await model.close();
    const connections = vi.spyOn(net.Socket.prototype, 'connect');
    const requests = vi.spyOn(globalThis, 'fetch');
    const [junit, html] = [join(folder, 'evals.xml'), join(folder, 'evals.html')];
    const replayed = await fullmcp(['eval', file, '--junit', junit, '--html', html]);
    expect([connections.mock.calls.length, requests.mock.calls.length]).toEqual([0, 0]);
    expect(replayed.exit).toBe(0);
    expect(replayed.stdout).toContain('ok         Bill Ada 30 euros  2 of 2');
    expect(replayed.stderr).toContain('2 ok, 0 failed.');
    expect(await digest(tapes)).toBe(before);

    const texts = [junit, html, join(tapes, 'm.tape.jsonl')].map((path) => readFile(path, 'utf8'));
    const [xml = '', page = '', tape = ''] = await Promise.all(texts);
    expect(xml).toContain('tests="2" failures="0"');
    // The words of the model and of the server are text, wherever they are.
    expect(page).not.toContain('<script');
    expect(page).not.toContain('\u202e');
    expect(page).toContain('&lt;script&gt;');
    for (const text of [xml, page, tape, replayed.stdout, replayed.stderr, recorded.stdout, recorded.stderr])
      expect(text).not.toContain(KEY);
  });

  it('names a stale case with the command that records it again, and exits with 1', async () => {
    const { file, folder } = await project();
    await fullmcp(['eval', file, '--record']);
    // A module is loaded once in a process, so the changed project is another one.
    const changed = await folderWith({
      'server.js': SERVER.replace('Offers.', 'Offers things.'),
      'evals.js': EVALS,
    });
    const tapes = ['--tapes', join(folder, 'evals.tapes')];
    const replayed = await fullmcp(['eval', join(changed, 'evals.js'), ...tapes]);
    expect(replayed.exit).toBe(1);
    // The first case forbids the tool that changed, and the second one expects it.
    expect(replayed.stdout).toContain('stale');
    expect(replayed.stdout).toContain('create_quote changed');
    expect(replayed.stderr).toContain('2 stale.\nRecord them again: fullmcp eval');
    const again = await fullmcp(['eval', join(changed, 'evals.js'), ...tapes, '--record', '--json']);
    expect([again.exit, again.json<{ ok: boolean }>().ok]).toEqual([0, true]);
  });

  it('shows each mistake with the number of runs that made it, and reports it to CI', async () => {
    const { file, folder } = await project(() => 'I cannot do that.');
    const junit = join(folder, 'report.xml');
    const ran = await fullmcp(['eval', file, '--record', '--junit', junit]);
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toContain('FAILED     Bill Ada 30 euros  0 of 2');
    expect(ran.stdout).toContain('2 times: create_invoice was not called; the model called nothing.');
    expect(ran.stderr).toContain('0 ok, 2 failed.');
    expect(await readFile(junit, 'utf8')).toContain(
      '<failure type="recorded" message="create_invoice was not called',
    );
  });

  it('explains mistakes, and compares with an earlier output', async () => {
    const { file, folder } = await project();
    const before = join(folder, 'before.json');
    const recorded = await fullmcp(['eval', file, '--record', '--json']);
    await writeFile(before, recorded.stdout);
    const compared = await fullmcp(['eval', file, '--compare', before, '--explain']);
    expect(compared.exit).toBe(0);
    expect(compared.stdout).toContain('too few cases to tell: 0 points (0 to 0) in 2 cases');
    expect(compared.stdout).toMatch(/\d+ +2 {2}create_quote/);
    expect(compared.stdout).toContain('The description of create_quote has fewer than 4 words');
    const json = await fullmcp(['eval', file, '--compare', before, '--explain', '--json']);
    expect(json.json()).toMatchObject({ explanation: { dead: [] }, comparison: [{ verdict: 'too few' }] });
    await writeFile(before, '{}');
    expect((await fullmcp(['eval', file, '--compare', before])).stderr).toContain(
      'is not an output of fullmcp eval --json',
    );
  });

  it.each([
    ['minimal', { name: 'greet', args: { name: 'Ada' } }],
    ['http-auth', { name: 'add_note', args: { text: 'The milk is empty' } }],
  ])('runs the cases of a new project (%s)', async (template, call) => {
    const { folder } = await project();
    const made = join(folder, template);
    expect((await fullmcp(['new', made, '--template', template, '--evals', '--yes'])).exit).toBe(0);
    const open = await mockModel(({ ask, results }) =>
      results.length > 0 || ask.startsWith('Add') ? 'Done: 4' : { calls: [call] },
    );
    onTestFinished(() => open.close());
    const words = ['--record', '--model', `openai-chat:m@${open.url}`];
    const ran = await fullmcp(['eval', join(made, 'src/evals.ts'), ...words]);
    expect([ran.exit, ran.stdout]).toEqual([0, expect.stringContaining('ok')]);
  });

  it('stops at the budget that was typed', async () => {
    const { file, model } = await project();
    const ran = await fullmcp(['eval', file, '--record', '--max-tokens', '5000', '--json']);
    expect(ran.exit).toBe(1);
    const { spent, models } = ran.json<{
      spent: { tokens: number };
      models: { cases: { state: string }[] }[];
    }>();
    expect(spent.tokens).toBeLessThanOrEqual(5000);
    expect(models[0]?.cases.map(({ state }) => state)).toContain('skipped');
    expect(model.requests.length).toBeLessThan(8);
  });

  it.each([
    [
      'a key that is not set',
      ['--record', '--model', 'openai:m'],
      'Set the environment variable OPENAI_API_KEY',
    ],
    ['a budget without --record', ['--max-tokens', '5'], '--max-tokens is only for --record'],
    ['a model that is none', ['--record', '--model', 'gpt'], '"gpt" does not name a model'],
    ['an unknown case', ['--only', 'Bill Ada 30 euro'], 'Did you mean "Bill Ada 30 euros"?'],
    ['a cost that is none', ['--record', '--max-cost', 'much'], '--max-cost must be a number such as 2.50'],
    ['a tape of nobody', ['--model', 'openai:m'], '2 missing'],
  ])('with %s says what to do', async (_what, words, says) => {
    const { file, model } = await project();
    vi.stubEnv('OPENAI_API_KEY', '');
    const ran = await fullmcp(['eval', file, ...words]);
    expect(ran.exit).not.toBe(0);
    expect(ran.stderr).toContain(says);
    expect(model.requests).toEqual([]);
  });

  it('with a file of something else says what it must export', async () => {
    const other = await folderWith({ 'evals.js': 'export default 17;' });
    expect((await fullmcp(['eval', join(other, 'evals.js')])).stderr).toContain(
      'does not export what evals() returns',
    );
    expect((await fullmcp(['eval', join(other, 'none.js')])).stderr).toContain('does not exist');
  });
});

async function digest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await readdir(folder)) hash.update(await readFile(join(folder, file)));
  return hash.digest('hex');
}
