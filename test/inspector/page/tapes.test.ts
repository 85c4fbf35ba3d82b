import { readFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('a tape', () => {
  const world = usePage();
  let id: string;
  beforeAll(async () => {
    id = await world.connect(demo);
  });

  test('is saved from a connection, opened again, stepped through and made again', async () => {
    for (const args of [
      { a: 2, b: 40 },
      { a: 1, b: 1 },
    ])
      await world.inspector.run('call', { connection: id, tool: 'add', args });
    await world.inspector.run('call', { connection: id, tool: 'roll_dice', args: { count: 20 } });
    await expect.poll(() => world.storiesOf('roll_dice').at(-1)?.state).toBe('ok');

    const page = await world.visit('#/tapes');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      place(page).getByRole('button', { name: /^Save/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^The-fullmcp-demo-\d{4}-\d\d-\d\d\.ndjson$/);
    await page.getByText(`Saved as ${download.suggestedFilename()}`).waitFor();
    const text = await readFile(await download.path(), 'utf8');
    await page
      .getByLabel('Tape to open')
      .setInputFiles({ name: 'demo.tape', mimeType: 'application/json', buffer: Buffer.from(text) });
    await page.getByRole('heading', { name: 'Make these calls again' }).waitFor();
    for (const box of await place(page).getByRole('checkbox').all()) await box.check();
    await page.getByRole('button', { name: 'Run the tape' }).click();
    const status = page.getByRole('status').filter({ hasText: /same/ });
    await status.waitFor();
    // Dice fall differently.
    expect(await status.textContent()).toMatch(/[1-9]\d* same, 1 different/);
  });

  test('does not count the time of the user as that of the server', async () => {
    await world.inspector.run('call', { connection: id, tool: 'order_pizza', args: {} });
    const story = () => world.storiesOf('order_pizza').at(-1);
    await expect.poll(() => story()?.state).toBe('asks');
    const answer = (action: string) =>
      world.inspector.run('answer', {
        story: story()?.id,
        question: story()?.questions.at(-1)?.id,
        answer: { action },
      });
    // The clock of the page has passed a number of milliseconds that is not zero.
    await expect.poll(() => Date.now() - (story()?.questions[0]?.at ?? Date.now())).toBeGreaterThan(20);
    await answer('decline');
    await expect.poll(() => story()?.endedAt).toBeDefined();
    const tape = world.inspector.tape(id) ?? '';
    const { tape: opened } = (await world.inspector.run('importTape', { name: 'x', text: tape })) as {
      tape: string;
    };
    const view = world.inspector.snapshot().tapes.find((each) => each.id === opened);
    const call = view?.calls.find(({ name }) => name === 'order_pizza');
    expect(call?.youMs).toBe(story()?.youMs);
    const [page, about] = [await world.visit(`#/tapes/${opened}`), /^you \d/];
    await page.getByRole('button', { name: /order_pizza/ }).click();
    await place(page).getByText(about).waitFor();
  });

  test('that cannot be read says so, and the page stays', async () => {
    const page = await world.visit('#/tapes');
    await page
      .getByLabel('Tape to open')
      .setInputFiles({ name: 'x.tape', mimeType: 'application/json', buffer: Buffer.from('no tape') });
    await expect.poll(() => page.getByRole('alert').first().textContent()).toMatch(/\w/);
    await page.getByRole('heading', { name: 'Tapes' }).waitFor();
  });
});
