import { beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place, runTool } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('a task in the page of the inspector', () => {
  const world = usePage();
  beforeAll(async () => {
    await world.connect(demo);
  });

  test('that was not started yet is explained where it will be shown, beside a list that is as wide as those of other places', async () => {
    const page = await world.visit('#/tools');
    const line = page.getByRole('separator', { name: 'Width of the list' });
    const before = await line.boundingBox();
    await page.goto(page.url().replace(/#.*/, '#/tasks'));
    const words = await place(page).getByRole('heading', { name: 'No task was started yet.' }).boundingBox();
    expect((await line.boundingBox())?.x).toBe(before?.x);
    expect(words?.x).toBeGreaterThan(before?.x ?? 0);
    await place(page).getByRole('textbox', { name: 'Follow a task by its id' }).waitFor();

    const phone = await world.visit('#/tasks', { width: 390 });
    await place(phone).getByText('No task was started yet.').waitFor();
    await place(phone).getByRole('textbox', { name: 'Follow a task by its id' }).waitFor();
  });

  test('goes on while the page is closed, and is found again with its question', async () => {
    const first = await world.visit('#/tools/bake_bread?stepMs=5');
    await runTool(first);
    await expect.poll(() => world.storiesOf('bake_bread').at(-1)?.task?.id).toBeTypeOf('string');
    await first.close();
    const story = () => world.storiesOf('bake_bread').at(-1);
    await expect.poll(() => story()?.state).toBe('asks');

    const page = await world.visit('#/tasks');
    await place(page).getByRole('heading', { name: 'How should the crust be?' }).waitFor();
    await place(page).getByRole('radio', { name: 'golden' }).check();
    await place(page)
      .getByRole('button', { name: /^Answer/ })
      .click();
    await place(page).getByText('A golden bread').first().waitFor();
    expect(story()).toMatchObject({ state: 'ok', task: { status: 'completed' } });
  });

  test('is cancelled from its page', async () => {
    const page = await world.visit('#/tools/bake_bread?stepMs=60000');
    await runTool(page);
    await expect
      .poll(() => world.storiesOf('bake_bread').at(-1)?.task?.status, { timeout: 10_000 })
      .toBe('working');
    const id = world.storiesOf('bake_bread').at(-1)?.task?.id ?? '';
    const other = await world.visit(`#/task/${id}`);
    await other
      .getByRole('button', { name: /^(Cancel|Stop)/ })
      .first()
      .click();
    await expect.poll(() => world.storiesOf('bake_bread').at(-1)?.state).toBe('cancelled');
  });
});
