import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { beforeAll, expect, test } from 'vitest';
import { describeWithPostgres, type PostgresServer } from '../../support/engines/postgres.js';
import { build } from '../../support/examples/program.js';
import { checksOf, commandsOf } from './page.js';
import { Project, type Terminal } from './project.js';

// Follows the pages of the tutorial that need Postgres, with a Postgres server of its own.

beforeAll(build, 120_000);

/** Writes `.env` as page 7 does, but with the database of the test, and makes the tables and a key. */
async function prepare(project: Project, { url }: PostgresServer): Promise<void> {
  const [settings = ''] = commandsOf('7-processes', 'Settings');
  const ours = settings.replace(/postgres:\/\/[^"]+/, url);
  expect(ours).toContain(url);
  expect(await project.run(ours)).toBe('');
  const [tables = ''] = commandsOf('7-processes', 'One address');
  expect(await project.run(tables)).toBe('The tables are there.\n');
}

async function startProcess(project: Project, command: string): Promise<Terminal> {
  const terminal = project.start(command);
  await terminal.prints(/Process \d+ listens on/);
  return terminal;
}

describeWithPostgres('the tutorial on Postgres', (server) => {
  test('page 7: an answer reaches a process that has never seen the question, and a restart is not noticed', {
    timeout: 240_000,
  }, async () => {
    await using project = await Project.after('7-processes');
    await prepare(project, server());
    const [, startFirst = '', startBalancer = ''] = commandsOf('7-processes', 'One address');
    const [open, startSecond, restart, tests, ...rest] = checksOf('7-processes');
    if (!open || !startSecond || !restart || !tests) throw new Error('Page 7 has four commands');
    expect(rest).toEqual([]);
    const first = await startProcess(project, startFirst);
    await project.start(startBalancer).prints(/in front of/);

    const [openIssue = '', closeIssue = ''] = open.command.split('\n');
    expect(JSON.parse(await project.run(openIssue))).toMatchObject({ id: 1, author: 'ada' });
    expect(closeIssue).toContain('close_issue id=1');
    const key = (await project.run('echo $ADA')).trim();
    let second: Terminal | undefined;
    const client = await connect(project.localized('http://localhost:3000/mcp'), {
      auth: key,
      elicit: async () => {
        second = await startProcess(project, startSecond.command);
        expect(await first.end('SIGINT')).toBe(0);
        return { action: 'accept', content: { reason: 'done' } };
      },
    });
    const { data } = await client.callTool('close_issue', { id: 1 });
    await client.close();
    expect(data).toEqual(JSON.parse(startSecond.prints));

    await startProcess(project, startFirst);
    const reading = project.expectShown(restart);
    expect(await second?.end('SIGINT')).toBe(0);
    await reading;
    await project.expectShown(tests);
  });

  test('page 8: health, metrics, the audit log and the checks of clients work on Postgres', {
    timeout: 240_000,
  }, async () => {
    await using project = await Project.after('8-operate');
    await server().query('DROP TABLE IF EXISTS issue, activity');
    await prepare(project, server());
    for (const command of commandsOf('8-operate', 'Metrics and an audit log')) await project.run(command);
    expect(readFileSync(join(project.folder, '.env'), 'utf8').match(/MCP_SECRET/g)).toHaveLength(1);
    const [makeKey = '', start = ''] = (commandsOf('8-operate', 'Start it')[0] ?? '').split('\n');
    expect(await project.run(makeKey)).toBe('');
    const terminal = await startProcess(project, start);
    for (const shown of checksOf('8-operate')) await project.expectShown(shown);
    expect(await terminal.end()).toBe(0);
  });
});
