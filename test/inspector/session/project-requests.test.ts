import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, tool } from 'fullmcp';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { SavedRequests } from '../../../src/tooling/requests/saved-request.js';
import { type Rig, rig } from './rig.js';

// Runs that are kept in the file of the project: nothing that is a secret is written, or shown.

const SECRET = 'open-sesame-4711';
const account = z.object({ user: z.string(), password: z.string() });
const server = createServer({
  name: 'shop',
  version: '1.0.0',
  logger: () => undefined,
  tools: {
    login: tool({
      input: z.object({
        account,
        others: z.array(account).default([]),
        pin: z.string().meta({ format: 'password' }).optional(),
      }),
      run: ({ account: { user, password } }) => `${user} is in with ${password}`,
    }),
    tell: tool({
      input: z.object({ key: z.string() }),
      run: ({ key }, ctx) => {
        ctx.log.info(`the key is ${key}`);
        ctx.progress(1, 2, `opened with ${key}`);
        return 'told';
      },
    }),
  },
});

let own: Rig;
let id: string;
let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-kept-'));
  path = join(folder, 'mcp.requests.json');
  own = rig({ requestsFile: path });
  id = await own.connect({ target: server });
});
afterEach(async () => {
  await own[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function saved(args: object, expected: object = {}): Promise<SavedRequests> {
  const { story } = await own.run('call', { connection: id, tool: 'login', args: { ...args } });
  await own.ended(story);
  await own.run('saveRequest', { story, name: 'in', expect: { ...expected } });
  return JSON.parse(await readFile(path, 'utf8')) as SavedRequests;
}

describe('a run that is kept', () => {
  test('has variables in the place of secrets, also of nested ones and of those that a schema marks', async () => {
    const file = await saved(
      {
        account: { user: 'ada', password: SECRET },
        others: [
          { user: 'ada', password: SECRET },
          { user: 'bob', password: 'another-word-12' },
        ],
        pin: '12',
      },
      { equal: `ada is in with ${SECRET}` },
    );
    expect(file.env).toEqual(['PASSWORD', 'OTHERS_PASSWORD', 'PIN']);
    expect(file.requests[0]?.arguments).toEqual({
      account: { user: 'ada', password: '$\u007bPASSWORD}' },
      others: [
        { user: 'ada', password: '$\u007bPASSWORD}' },
        { user: 'bob', password: '$\u007bOTHERS_PASSWORD}' },
      ],
      pin: '$\u007bPIN}',
    });
    expect(file.requests[0]?.expect).toEqual({ equal: 'ada is in with $\u007bPASSWORD}' });
    expect(await readFile(path, 'utf8')).not.toMatch(/sesame|another-word/);
  });

  test('takes the variable of the environment that has the secret, and no other one of the same name', async () => {
    vi.stubEnv('PASSWORD', 'of-somebody-else');
    const file = await saved({ account: { user: 'ada', password: SECRET } });
    expect(file.env).toEqual(['ACCOUNT_PASSWORD']);
    vi.stubEnv('ACCOUNT_PASSWORD', SECRET);
    const { reports } = await own.run('runRequests', { connection: id, names: ['in'] });
    expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
  });
});

test('progress and log messages of a saved request do not show the values of its variables', async () => {
  vi.stubEnv('SHOP_KEY', SECRET);
  await writeFile(
    path,
    JSON.stringify({
      version: 1,
      env: ['SHOP_KEY'],
      requests: [{ name: 'tells', tool: 'tell', arguments: { key: '$\u007bSHOP_KEY}' } }],
    }),
  );
  const { reports } = await own.run('runRequests', { connection: id, names: ['tells'] });
  const { ticks, progress } = own.story(reports.at(-1)?.story ?? 0);
  expect(ticks.map(({ kind }) => kind)).toEqual(['log', 'progress']);
  expect(JSON.stringify([ticks, progress])).not.toContain(SECRET);
  expect(JSON.stringify(own.events)).not.toContain(SECRET);
});
