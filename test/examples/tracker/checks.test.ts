import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'fullmcp/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { build, run } from '../../support/examples/program.js';
import { until } from '../../support/until.js';
import { blocksOf, checksOf, commandsOf, type PageName, section } from './page.js';
import { Project, type Terminal } from './project.js';

// Follows each page of the tutorial: its commands run as they are written, and print what the page says.

beforeAll(build, 120_000);

function commandOf(page: PageName, heading: string): string {
  const [first] = commandsOf(page, heading);
  if (first === undefined) throw new Error(`docs/learn/${page}.md has no command below "${heading}"`);
  return first;
}

/** Serves a project as page 1 does. */
async function startDev(project: Project): Promise<Terminal> {
  const terminal = project.start(project.localized(`${commandOf('1-tools', 'Serve it')} --port 3000`));
  await terminal.prints(new RegExp(project.localized('http://localhost:3000/mcp')));
  return terminal;
}

/** Serves a project as page 4 does. Returns the number of the process, which the program prints. */
async function startMain(project: Project): Promise<{ readonly terminal: Terminal; readonly pid: string }> {
  const terminal = project.start(commandOf('4-task', 'A program of its own'));
  const [, pid = ''] = await terminal.prints(/Process (\d+) listens on/);
  return { terminal, pid };
}

describe('the checks of the tutorial', { timeout: 240_000 }, () => {
  test('page 1: issues are opened, closed and listed, and wrong arguments are explained', async () => {
    await using project = await Project.after('1-tools');
    expect(await project.run(commandOf('1-tools', 'The server'))).toBe('');
    await startDev(project);
    const checks = checksOf('1-tools');
    expect(checks).toHaveLength(4);
    for (const shown of checks) await project.expectShown(shown);
  });

  test('page 2: an issue is read, a prompt is got, and a change is announced', async () => {
    await using project = await Project.after('2-resources');
    await startDev(project);
    const [read, prompt, subscribe, close, ...rest] = checksOf('2-resources');
    if (!read || !prompt || !subscribe || !close) throw new Error('Page 2 has four commands');
    expect(rest).toEqual([]);
    await project.expectShown(read);
    await project.expectShown(prompt);
    const waiting = project.start(subscribe.command);
    // Each call announces a change, and one of them comes after the subscription.
    await until('the change is announced', async () => {
      await project.run(close.command);
      return waiting.child.exitCode !== null;
    });
    expect(waiting.printed().trim()).toBe(close.prints);
    const client = await connect(project.localized('http://localhost:3000/mcp'));
    const { values } = await client.complete({ template: 'issue://{id}', argument: 'id', value: '' });
    await client.close();
    expect(values).toEqual(['1']);
  });

  test('page 3: the pitfall writes a line twice, as the page shows', async () => {
    await using project = await Project.after('3-ask');
    const wrong = blocksOf(section('3-ask', 'The pitfall')).find(({ language }) => language === 'ts');
    replaceIn(project, 'server.ts', /\/\/ #region delete_issue[\s\S]*?\/\/ #endregion/, wrong?.text ?? '');
    await startDev(project);
    const [, shown] = blocksOf(section('3-ask', 'The pitfall')).filter(({ language }) => language !== 'ts');
    const printed = await project.run(commandOf('3-ask', 'The pitfall'));
    expect(printed.trim().endsWith(shown?.text.trim() ?? 'nothing')).toBe(true);
  });

  test('page 3: an issue is deleted and closed after an answer, and each line of the log is there once', async () => {
    await using project = await Project.after('3-ask');
    await startDev(project);
    const checks = checksOf('3-ask');
    expect(checks).toHaveLength(3);
    for (const shown of checks) await project.expectShown(shown);
  });

  test('page 4: an import continues after kill -9, and no issue is there twice', async () => {
    await using project = await Project.after('4-task');
    const first = await startMain(project);
    const [detach, kill, wait, count, ...rest] = checksOf('4-task');
    if (!detach || !kill || !wait || !count) throw new Error('Page 4 has four commands');
    expect(rest).toEqual([]);
    await project.expectShown(detach);
    await until('two of five rows are imported', async () => {
      const [, done = '0'] =
        /\((\d+)\/500\)/.exec(await project.run(detach.command.split('\n').at(-1) ?? '')) ?? [];
      return Number(done) >= 200;
    });
    expect(first.pid).toBe(String(first.terminal.child.pid));
    await project.run(kill.command.replace('4711', first.pid));
    await until('the process has died', () => first.terminal.child.signalCode === 'SIGKILL');
    await startMain(project);
    await project.expectShown(wait);
    await project.expectShown(count);
  });

  test('page 5: a key is needed, scopes hide tools, and each caller has a list of its own', async () => {
    await using project = await Project.after('5-users');
    const [keys, ...checks] = checksOf('5-users');
    expect(await project.run(keys?.command ?? 'false')).toBe('');
    await startMain(project);
    expect(checks).toHaveLength(5);
    for (const shown of checks) await project.expectShown(shown);
  });

  test('page 6: the tests pass, and one of them finds the pitfall', async () => {
    await using project = await Project.after('6-tests');
    const [green, red, ...rest] = checksOf('6-tests');
    if (!green || !red) throw new Error('Page 6 has two commands');
    expect(rest).toEqual([]);
    await project.expectShown(green);
    const [right, wrong] = blocksOf(section('6-tests', 'Check')).filter(({ text }) =>
      text.startsWith('await'),
    );
    replaceIn(project, 'server.ts', right?.text.trim() ?? '', wrong?.text.trim() ?? '');
    await project.expectShown(red);
    expect(await project.run(red.command)).toMatch(/(?:not ok \d+ -|✖) a request to delete is logged once/);
  });

  test('page 6: the solution of its exercise passes', async () => {
    await using program = run('tracker/solutions/watched.test.js');
    expect(await program.end()).toBe(0);
  });

  test('page 8: health, metrics, the audit log and the checks of clients work for a reader who has skipped page 7', async () => {
    await using project = await Project.after('6-tests');
    project.copy('8-operate', 'main.ts', 'metrics.ts', 'verify.ts', 'watching.ts');
    const [, use] = blocksOf(section('8-operate', 'Metrics and an audit log')).filter(
      ({ file }) => file === 'examples/tracker/8-operate/server.ts',
    );
    const imported = "} from './issues.ts';";
    replaceIn(project, 'server.ts', imported, `${imported}\nimport { watching } from './watching.ts';`);
    replaceIn(project, 'server.ts', /^ {2}instructions: .*$/m, (line) => `${line}\n  ${use?.text}`);
    const [secrets = '', secret = ''] = commandsOf('8-operate', 'Metrics and an audit log');
    expect(await project.run(`${secrets}\n${secret}`)).toBe('');
    const [makeKey = '', start = ''] = commandOf('8-operate', 'Start it').split('\n');
    expect(await project.run(makeKey)).toBe('');
    await project.start(start).prints(/Process \d+ listens on/);
    const checks = checksOf('8-operate');
    expect(checks).toHaveLength(7);
    for (const shown of checks) await project.expectShown(shown);
  });
});

/** Changes a file of the reader, who must find there what is to be changed. */
function replaceIn(
  project: Project,
  file: string,
  before: string | RegExp,
  after: string | ((found: string) => string),
): void {
  const path = join(project.folder, file);
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(before, (found) => (typeof after === 'string' ? after : after(found)));
  expect(changed).not.toBe(text);
  writeFileSync(path, changed);
}
