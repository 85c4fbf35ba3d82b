import { beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { field, place, result, runTool } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('a tool in the page of the inspector', () => {
  const world = usePage();
  beforeAll(async () => {
    await world.connect(demo);
  });

  test('with nested objects, a list and a choice is called from its form', async () => {
    const page = await world.visit('#/tools/place_order');
    await field(page, 'name').fill('Ann Miller');
    await field(page, 'email').fill('ann@example.org');
    await field(page, 'street').fill('Main Street 1');
    await field(page, 'city').fill('Graz');
    const rows = place(page).getByRole('row');
    if ((await rows.count()) < 2) await place(page).getByRole('button', { name: 'Add a row' }).click();
    await place(page).getByLabel('quantity of lines 1').fill('3');
    await page.getByRole('radio', { name: 'card' }).check();
    await field(page, 'last4').fill('4242');
    await place(page).getByRole('button', { name: 'Run', exact: true }).click();
    await result(page).getByText('total').first().waitFor();
    const [story] = world.storiesOf('place_order');
    expect(story).toMatchObject({
      state: 'ok',
      args: {
        customer: { name: 'Ann Miller', address: { city: 'Graz' } },
        lines: [{ quantity: 3 }],
        payment: { kind: 'card', last4: '4242' },
      },
      outputCheck: { result: 'fits' },
    });
  });

  test('says beside the field what is wrong, and sends nothing', async () => {
    const page = await world.visit('#/tools/add');
    const before = world.storiesOf('add').length;
    await field(page, 'b').fill('');
    await runTool(page);
    await page.getByText(/1 field needs attention/).waitFor();
    expect(await field(page, 'b').getAttribute('aria-invalid')).toBe('true');
    expect(world.storiesOf('add').length).toBe(before);
  });

  test('keeps the form and the JSON editor in step', async () => {
    const page = await world.visit('#/tools/add');
    await field(page, 'a').fill('5');
    await place(page).getByRole('button', { name: 'JSON' }).click();
    const editor = page.locator('textarea').first();
    expect(JSON.parse(await editor.inputValue())).toMatchObject({ a: 5 });
    await editor.fill('{"a": 20, "b": 22}');
    await place(page).getByRole('button', { name: 'JSON' }).click();
    expect(await field(page, 'b').inputValue()).toBe('22');
    await runTool(page);
    await result(page).getByText('42').waitFor();
  });

  test('is run again from its history, and the difference is marked', async () => {
    const page = await world.visit('#/tools/find_order');
    for (const id of ['1', '2']) {
      await field(page, 'id').fill(id);
      await runTool(page);
      await result(page)
        .getByText(id === '1' ? 'Compass' : 'Lantern')
        .first()
        .waitFor();
    }
    await page.getByText(/was "?Compass/).waitFor();
    const [first] = world.storiesOf('find_order');
    await place(page).getByRole('button', { name: /^#\d+/ }).click();
    await page.getByRole('menuitem', { name: new RegExp(`#${first?.run}\\b`) }).click();
    expect(await field(page, 'id').inputValue()).toBe('1');
    await field(page, 'id').blur();
    await page.keyboard.press('r');
    await expect.poll(() => world.storiesOf('find_order').at(-1)?.repeats).toBe(first?.id);
    await result(page).getByText('Compass').first().waitFor();
  });

  test('is numbered among the runs of its tool, not among everything that was sent', async () => {
    await world.connect(demo);
    const page = await world.visit('#/tools/roll_dice');
    await runTool(page);
    const runs = place(page).getByRole('button', { name: /^#\d+/ });
    await expect.poll(() => runs.textContent()).toBe('#1');
    await page.keyboard.press('r');
    await expect.poll(() => runs.textContent()).toBe('#2');
    await result(page).getByText(/^ok$/).waitFor();
    // The number of the story is larger: others were sent before.
    const [first, again] = world.storiesOf('roll_dice').slice(-2);
    expect(first?.id).toBeGreaterThan(1);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /^roll_dice #2 .*, ok, / }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    const story = page.getByRole('article', { name: 'Story of roll_dice' });
    await story.getByText('#2', { exact: true }).waitFor();
    expect(await story.getByRole('link', { name: 'repeats #1' }).getAttribute('href')).toBe(
      `#/call/${first?.id}`,
    );
    expect(new URL(page.url()).hash).toBe(`#/call/${again?.id}`);
  });

  test('that fails shows its sentence and keeps the arguments', async () => {
    const page = await world.visit('#/tools/find_order?id=9');
    await runTool(page);
    await result(page).or(place(page)).getByText('Order 9 does not exist. Try 1, 2 or 3.').first().waitFor();
    expect(await field(page, 'id').inputValue()).toBe('9');
  });

  test('that sends a picture shows it', async () => {
    const page = await world.visit('#/tools/paint?color=%23ff8800');
    await runTool(page);
    const picture = page.getByRole('img', { name: 'Picture from the server' });
    await picture.waitFor();
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
      .toBeGreaterThan(0);
  });

  test('is stopped with Ctrl+., and says so', async () => {
    const page = await world.visit('#/tools/countdown?from=60');
    await runTool(page);
    await page.getByText(/of 60/).first().waitFor();
    await page.keyboard.press('Control+.');
    await expect.poll(() => world.storiesOf('countdown').at(-1)?.state).toBe('cancelled');
    await page.getByText('cancelled').first().waitFor();
  });
});
