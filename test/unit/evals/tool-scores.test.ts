import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { call, evals } from 'fullmcp/evals';
import { type ModelScript, mockModel } from 'fullmcp/testing';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { recordedScores } from '../../../src/evals/tape/tool-scores.js';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { rig } from '../../inspector/session/rig.js';

const shop = (description = 'Bills a customer.') =>
  createServer({
    name: 'shop',
    version: '1.0.0',
    tools: {
      bill: tool({ description, input: z.object({ amount: z.number() }), run: () => 'billed' }),
      quote: tool({ description: 'Offers.', run: () => 'offered' }),
    },
  });

const cases = [
  { ask: 'Bill 30', expect: call('bill', { amount: 30 }) },
  { ask: 'Bill 31', expect: call('bill', { amount: 31 }) },
  { ask: 'Offer', expect: ['quote'] },
];
/** Bills 30, whatever was asked. */
const script: ModelScript = ({ ask, results }) => {
  if (results.length > 0) return 'Done.';
  return { calls: [ask === 'Offer' ? { name: 'quote' } : { name: 'bill', args: { amount: 30 } }] };
};

async function recorded(): Promise<string> {
  const model = await mockModel(script);
  onTestFinished(() => model.close());
  const folder = await mkdtemp(join(tmpdir(), 'evals-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const models = [{ api: 'anthropic' as const, model: 'm', url: model.url }];
  await evals(shop, cases, { models, runs: 2 }).run({ tapes: folder, record: true });
  return folder;
}

async function listed(server = shop()): Promise<readonly JsonObject[]> {
  await using own = rig();
  const id = await own.connect({ target: server });
  return own.inspector.catalog(id)?.tools.map(({ tool: one }) => one) ?? [];
}

it('The last recorded score of a tool counts the runs of the cases that expect it', async () => {
  const folder = await recorded();
  const [bill, quote] = await recordedScores([folder], await listed());
  expect(bill).toMatchObject({ tool: 'bill', model: 'm', passed: 2, of: 4, isChanged: false });
  expect(quote).toMatchObject({ tool: 'quote', passed: 2, of: 2 });
  expect(bill?.day).toMatch(/^\d{4}-\d\d-\d\d$/);
});

it('The inspector has the last recorded scores of its tools, and says whether a definition has changed since', async () => {
  const folder = await recorded();
  await using own = rig({ tapeFolders: [folder, join(folder, 'nowhere')] });
  const same = await own.connect({ target: shop() });
  const changed = await own.connect({ target: shop('Bills somebody.') });
  const scoresOf = (id: string) => own.inspector.catalog(id)?.tools.map(({ scores }) => scores?.[0]);
  expect(scoresOf(same)).toMatchObject([
    { model: 'm', passed: 2, of: 4, isChanged: false },
    { passed: 2, of: 2, isChanged: false },
  ]);
  expect(scoresOf(changed)).toMatchObject([{ isChanged: true }, { isChanged: false }]);
});

it('Scores are those of the server of the tapes alone, and a tape that cannot be read has none', async () => {
  const folder = await recorded();
  const [bill] = await listed();
  const other = [{ name: 'other', inputSchema: { type: 'object' } }];
  expect(await recordedScores([folder], other)).toEqual([]);
  // Half of the tools of the tape are enough.
  expect(await recordedScores([folder], [bill as JsonObject])).toHaveLength(1);
  const path = join(folder, 'm.tape.jsonl');
  const [header = '', ...rest] = (await readFile(path, 'utf8')).split('\n');
  const damaged = { ...JSON.parse(header), scores: { bill: [1, 'x'], quote: [1, 2, '2026-01-01', ''] } };
  await writeFile(path, [JSON.stringify(damaged), ...rest].join('\n'));
  const scores = await recordedScores([folder], await listed());
  expect(scores.map(({ tool: name }) => name)).toEqual(['quote']);
  await writeFile(path, '<<<<<<< HEAD\n');
  await mkdir(join(folder, 'folder.tape.jsonl'));
  expect(await recordedScores([folder], await listed())).toEqual([]);
});
