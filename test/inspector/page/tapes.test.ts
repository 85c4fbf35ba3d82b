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
      place(page).getByRole('link', { name: /^Save/ }).click(),
    ]);
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

  test('that cannot be read says so, and the page stays', async () => {
    const page = await world.visit('#/tapes');
    await page
      .getByLabel('Tape to open')
      .setInputFiles({ name: 'x.tape', mimeType: 'application/json', buffer: Buffer.from('no tape') });
    await expect.poll(() => page.getByRole('alert').first().textContent()).toMatch(/\w/);
    await page.getByRole('heading', { name: 'Tapes' }).waitFor();
  });
});
