// #region setup
import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { everyWire, startFaults, testClient } from 'fullmcp/testing';

// The tests have a folder of their own. The server opens it when it is imported, so the import comes second.
process.env.TRACKER_FOLDER = mkdtempSync(join(tmpdir(), 'tracker-'));
const { server } = await import('./server.ts');
const { addIssue, getIssue, issue, listActivity } = await import('./issues.ts');

const ada = { subject: 'ada', scopes: ['issues:read', 'issues:write'] };
const bob = { subject: 'bob', scopes: ['issues:read'] };
const team = {
  ada: await testClient(server, {
    caller: ada,
    answers: { reason: { reason: 'done' }, sure: { sure: true } },
  }),
  bob: await testClient(server, { caller: bob }),
};

after(async () => {
  await team.ada.close();
  await team.bob.close();
  await server.close();
});
// #endregion

// #region tools
test('a new issue is open, has an id, an author and the default priority', async () => {
  const opened = await team.ada.tool.open_issue({ title: 'The door squeaks' });
  assert.equal(opened.state, 'open');
  assert.equal(opened.author, 'ada');
  assert.equal(opened.priority, 'normal');
});

test('a wrong argument is refused, and the text names the argument', async () => {
  const refused = await team.ada.callTool('open_issue', { title: 'x', priority: 'urgent' });
  assert.equal(refused.isError, true);
  assert.match(refused.text, /priority/);
});

test('an unknown id ends with a sentence that the model can act on', async () => {
  const { text } = await team.ada.callTool('close_issue', { id: 999_999 });
  assert.equal(text, 'Issue 999999 does not exist. Call list_issues to see the ids.');
});
// #endregion

// #region resources
test('the ids of issues are suggested', async () => {
  const { id } = await addIssue({ title: 'The tap drips', priority: 'low' });
  const { values } = await team.ada.complete({ template: 'issue://{id}', argument: 'id', value: `${id}` });
  assert.ok(values.includes(`${id}`));
});

test('closing an issue announces the change', { timeout: 30_000 }, async () => {
  const { id } = await addIssue({ title: 'The roof leaks', priority: 'high' });
  const changes = await team.ada.subscribe(`issue://${id}`);
  await team.ada.callTool('close_issue', { id });
  const announced = [];
  for await (const change of changes) {
    announced.push(change);
    break; // leaving the loop ends the subscription
  }
  assert.deepEqual(announced, [{ kind: 'resource', uri: `issue://${id}` }]);
});
// #endregion

// #region asking
test('closing an issue asks for the reason, and keeps it', async () => {
  const { id } = await addIssue({ title: 'The lamp flickers', priority: 'low' });
  await team.ada.callTool('close_issue', { id });
  assert.equal((await getIssue(id))?.reason, 'done');
});

test('a request to delete is logged once, although the handler runs twice', async () => {
  const { id } = await addIssue({ title: 'A duplicate', priority: 'low' });
  await team.ada.callTool('delete_issue', { id });
  const lines = (await listActivity()).filter((line) => line.includes(`delete issue ${id},`));
  assert.equal(lines.length, 1);
});

test('an issue stays if the user declines', async () => {
  const { id } = await addIssue({ title: 'Important', priority: 'high' });
  const client = await testClient(server, { caller: ada, answers: { sure: { action: 'decline' } } });
  assert.equal((await client.callTool('delete_issue', { id })).text, 'The user declined: sure');
  assert.equal((await getIssue(id))?.title, 'Important');
  await client.close();
});
// #endregion

// #region task
test('an import runs as a task, and adds every row', async () => {
  const csv = 'title,priority\nThe first,high\nThe second,odd';
  const task = await team.ada.startTool('import_csv', { csv });
  assert.notEqual(task.id, undefined);
  assert.equal((await task.result()).text, 'Imported 2 issues');
});

test('a row that is imported again with the same key is not added again', async () => {
  const first = await addIssue({ title: 'Once', priority: 'low' }, 'the same key');
  const second = await addIssue({ title: 'Once', priority: 'low' }, 'the same key');
  assert.equal(second.id, first.id);
});
// #endregion

// #region users
test('a caller without the scope does not see the tool, and cannot call it', async () => {
  const names = (await team.bob.tools().all()).map(({ name }) => name);
  assert.deepEqual(names.sort(), ['list_issues', 'list_watched', 'watch_issue']);
  await assert.rejects(team.bob.callTool('delete_issue', { id: 1 }), { code: 'forbidden' });
});

test('only the author edits an issue', async () => {
  const { id } = await addIssue({ title: 'Mine', priority: 'low', author: 'eve' });
  const { text } = await team.ada.callTool('edit_issue', { id, title: 'Yours' });
  assert.equal(text, `Only eve may edit issue ${id}.`);
});
// #endregion

// #region wires
test('issues are opened over every transport and revision', async () => {
  const run = async (client = team.ada) => {
    const { data } = await client.callTool('open_issue', { title: 'From everywhere' });
    assert.equal(issue.parse(data).author, 'ada');
  };
  await everyWire(server, run, { caller: ada });
});

test('a bad network loses answers, and never the server', async () => {
  const faults = startFaults({ seed: 4711, after: 1, drop: 0.2, garble: 0.2, duplicate: 0.2 });
  const client = await testClient(server, { over: 'stdio', caller: ada, faults, timeoutMs: 100 });
  for (let round = 1; round <= 10; round++) await client.callTool('list_issues').catch(() => undefined);
  faults.stop();
  assert.equal((await client.callTool('list_issues')).isError, false);
  await client.close();
});
// #endregion
