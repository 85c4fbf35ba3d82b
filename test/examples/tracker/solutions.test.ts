import { createServer } from 'fullmcp';
import { testClient } from 'fullmcp/testing';
import { expect, test } from 'vitest';
import { addIssue, getIssue, listActivity, saveIssue } from '../../../examples/tracker/3-ask/issues.js';
import { tools as pitfall } from '../../../examples/tracker/pitfall.js';
import { resources, tools } from '../../../examples/tracker/solutions/exercises.js';

// The solutions of the exercises, and the mistake of page 3. Pages run the rest: see checks.test.ts.

const server = createServer({
  name: 'tracker',
  version: '1.0.0',
  tools,
  resources,
  changes: ['resource', 'resources'],
});

test('the solution of page 1 finds an issue by a part of its title, in any case', async () => {
  const { id } = await addIssue({ title: 'The Door squeaks', priority: 'low' });
  await addIssue({ title: 'Something else', priority: 'low' });
  await using client = await testClient(server);
  const { issues } = await client.tool.search_issues({ text: 'dOOR' });
  expect(issues.map((found) => found.id)).toEqual([id]);
});

test('the solution of page 2 reads the open issues', async () => {
  const { id } = await addIssue({ title: 'Open', priority: 'low' });
  const closed = await saveIssue({
    ...(await addIssue({ title: 'Closed', priority: 'low' })),
    state: 'closed',
  });
  await using client = await testClient(server);
  const read = JSON.parse((await client.readResource('issues://open')).text) as { id: number }[];
  const ids = read.map((found) => found.id);
  expect(ids).toContain(id);
  expect(ids).not.toContain(closed.id);
});

test('the solution of page 3 asks for a priority only if none is given, and adds the issue once', async () => {
  let asked = 0;
  const answers = {
    priority: () => {
      asked += 1;
      return { priority: 'high' };
    },
  };
  await using client = await testClient(server, { answers });
  const first = await client.tool.open_issue({ title: 'Without' });
  expect([first.priority, asked]).toEqual(['high', 1]);
  const second = await client.tool.open_issue({ title: 'With', priority: 'low' });
  expect([second.priority, asked]).toEqual(['low', 1]);
  expect(second.id).toBe(first.id + 1);
});

test('the solution of page 4 deletes all closed issues as a task', async () => {
  const closed = await saveIssue({ ...(await addIssue({ title: 'Old', priority: 'low' })), state: 'closed' });
  const open = await addIssue({ title: 'New', priority: 'low' });
  await using client = await testClient(server);
  const task = await client.startTool('delete_closed');
  expect(task.id).toBeDefined();
  expect((await task.result()).text).toMatch(/^Deleted \d+ issues$/);
  expect(await getIssue(closed.id)).toBeUndefined();
  expect(await getIssue(open.id)).toBeDefined();
});

test('the mistake of page 3 writes a line of the log twice', async () => {
  const { id } = await addIssue({ title: 'A duplicate', priority: 'low' });
  const wrong = createServer({ name: 'wrong', version: '1.0.0', tools: pitfall, changes: ['resources'] });
  await using client = await testClient(wrong, { answers: { sure: { sure: true } } });
  await client.callTool('delete_issue', { id });
  expect((await listActivity()).filter((line) => line.includes(`delete issue ${id},`))).toHaveLength(2);
});
