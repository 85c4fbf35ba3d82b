import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { demoServer } from '../support/demo.js';
import { fullmcp } from '../support/run-cli.js';

const demo = demoServer();

interface Shown {
  readonly task: { readonly status: string };
}

async function started(): Promise<string> {
  const { stdout } = await fullmcp(['call', demo.url, 'bake_bread', 'stepMs=1', '--detach']);
  const id = stdout.trim();
  await until('the task asks', async () => {
    const { json } = await fullmcp(['tasks', demo.url, id, '--json']);
    return json<Shown>().task.status === 'input_required';
  });
  return id;
}

describe('fullmcp tasks', () => {
  it('shows the state of a task and its questions', async () => {
    const id = await started();
    const { exit, stdout, stderr } = await fullmcp(['tasks', demo.url, id]);
    expect(stderr).toBe(`Answer with: fullmcp tasks ${demo.url} ${id} --answer crust=pale\n`);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^waiting for you /);
    expect(stdout).toContain(
      '  crust: How should the crust be?\n    crust  pale | golden | dark, required\n',
    );
  });

  it('answers a question and waits for the result', async () => {
    const id = await started();
    const words = ['tasks', demo.url, id, '--wait'];
    const nobody = await fullmcp(words);
    expect(nobody.exit).toBe(5);
    expect(nobody.stderr).toContain(`fullmcp tasks ${demo.url} ${id} --wait --answer crust=pale`);
    const done = await fullmcp([...words, '--answer', 'crust=golden', '--json']);
    expect(done.json()).toMatchObject({ ok: true, task: id, text: 'A golden bread' });
  });

  it('answers without waiting, and says so if no answer fits', async () => {
    const id = await started();
    expect((await fullmcp(['tasks', demo.url, id, '--answer', 'colour=red'])).exit).toBe(5);
    expect((await fullmcp(['tasks', demo.url, id, '--answer', 'crust=black'])).exit).toBe(5);
    expect((await fullmcp(['tasks', demo.url, id, '--answer', 'crust.crust=dark'])).exit).toBe(0);
    expect((await fullmcp(['tasks', demo.url, id, '--wait'])).stdout).toBe('A dark bread\n');
    // The last step of a task says nothing once it has ended.
    expect((await fullmcp(['tasks', demo.url, id])).stdout).toMatch(
      /^completed; --wait prints the result {2}started /,
    );
  });

  it('cancels a task, whose wait then fails with 1', async () => {
    const id = await started();
    expect((await fullmcp(['tasks', demo.url, id, '--cancel'])).stdout).toMatch(/^cancelled /);
    expect(await fullmcp(['tasks', demo.url, id, '--wait'])).toMatchObject({
      exit: 1,
      stderr: 'The task was cancelled.\n',
    });
    expect((await fullmcp(['tasks', demo.url, id, '--wait', '--cancel'])).exit).toBe(2);
  });

  it('exits with 4 if there is no such task', async () => {
    const { exit, stderr } = await fullmcp(['tasks', demo.url, 'nothing']);
    expect(exit).toBe(4);
    expect(stderr).toContain('Unknown task: nothing. `fullmcp call … --detach` prints the id of a task.');
  });
});
