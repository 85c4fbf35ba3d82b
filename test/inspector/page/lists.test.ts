import { beforeAll, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import { describeInChromium } from '../../browser/chromium.js';
import { place } from './support/find.js';
import { usePage } from './support/world.js';

describeInChromium('resources and prompts in the page of the inspector', () => {
  const world = usePage();
  let id: string;
  beforeAll(async () => {
    id = await world.connect(demo);
  });

  test('a resource is read when it is opened, and shown by its type', async () => {
    const page = await world.visit('#/resources/demo%3A%2F%2Freadme');
    await place(page).getByText('This is the demo of fullmcp.').waitFor();
    await place(page).getByRole('button', { name: 'Raw' }).click();
    await place(page).getByText('"mimeType": "text/markdown"').waitFor();
  });

  test('an update of a subscribed resource is counted, read and marked', async () => {
    const page = await world.visit('#/resources/notes%3A%2F%2Fall');
    await place(page).getByText('Buy milk').waitFor();
    await place(page).getByRole('button', { name: 'Subscribe' }).click();
    await place(page)
      .getByText(/listening since/)
      .waitFor();
    await world.inspector.run('call', { connection: id, tool: 'add_note', args: { text: 'Feed the cat' } });
    await place(page)
      .getByText(/1 update, latest/)
      .waitFor();
    await place(page).getByText('Feed the cat').waitFor();
    await place(page).getByText(/new/).first().waitFor();
    expect(world.storiesOf('notes://all').filter(({ kind }) => kind === 'read').length).toBe(2);
    await place(page).getByRole('button', { name: 'Subscribed' }).click();
    await place(page).getByRole('button', { name: 'Subscribe', exact: true }).waitFor();
  });

  test('a template is filled with what the server suggests, by the keyboard', async () => {
    const page = await world.visit('#/resources/notes%3A%2F%2F%7Bid%7D');
    const field = place(page).getByRole('combobox', { name: /^id/ });
    await field.click();
    await place(page).getByRole('option', { name: '1' }).first().waitFor();
    expect(await field.getAttribute('aria-expanded')).toBe('true');
    await field.press('ArrowDown');
    const active = await field.getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).getAttribute('aria-selected')).toBe('true');
    await field.press('Enter');
    expect(await field.inputValue()).toBe('1');
    await field.press('Control+Enter');
    await place(page).getByText('Buy milk').waitFor();
  });

  test('a template without its variable is not read, and says so', async () => {
    const page = await world.visit('#/resources/notes%3A%2F%2F%7Bid%7D');
    await place(page).getByRole('button', { name: /^Read/ }).click();
    await place(page).getByText('The URI needs a value here.').waitFor();
  });

  test('a URI that is typed by hand is opened, and its failure is shown', async () => {
    const page = await world.visit('#/resources');
    await place(page).getByLabel('Open by URI').fill('notes://999');
    await place(page).getByLabel('Open by URI').press('Enter');
    await place(page).getByRole('button', { name: 'Read', exact: true }).click();
    await place(page).getByText('The resource could not be read.').waitFor();
  });

  test('a prompt is completed, filled in and previewed by role', async () => {
    const page = await world.visit('#/prompts/explain');
    const topic = place(page).getByRole('combobox', { name: /^topic/ });
    await topic.fill('br');
    await place(page).getByRole('option', { name: 'bread' }).click();
    expect(await topic.inputValue()).toBe('bread');
    await page.keyboard.press('Control+Enter');
    await place(page).getByText('Explain bread to a student.').waitFor();
    await place(page).getByText('2 messages').waitFor();
    expect(await place(page).getByText('user', { exact: true }).count()).toBe(2);
    // The arguments of the latest run are there again after a reload.
    await page.reload();
    await expect
      .poll(() =>
        place(page)
          .getByRole('combobox', { name: /^topic/ })
          .inputValue(),
      )
      .toBe('bread');
  });

  test('a prompt is copied as a command line, code and a link', async () => {
    const page = await world.visit('#/prompts/explain?topic=bread');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = async (form: string): Promise<string> => {
      await place(page).getByRole('button', { name: 'Copy as' }).click();
      await page.getByRole('menuitem', { name: form }).click();
      await page.getByText(`Copied as ${form.toLowerCase()}`).waitFor();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    expect(await copied('Command line')).toMatch(/^fullmcp prompt .* explain topic=bread$/);
    expect(await copied('Client code')).toContain('client.getPrompt(\'explain\', {\n  topic: "bread"\n})');
    expect(await copied('Link to this form')).toContain('#/prompts/explain?topic=bread');
  });

  test('the facts, findings and tokens of a server are there, and roots are edited', async () => {
    const page = await world.visit('#/server');
    await place(page).getByText('The fullmcp demo').first().waitFor();
    await place(page).getByText('No token needed: the server answered without one.').waitFor();
    await place(page).getByLabel('Folder to add').fill('not a folder');
    await place(page).getByRole('button', { name: 'Add', exact: true }).click();
    await place(page)
      .getByText(/A root is a whole path/)
      .waitFor();
    await place(page).getByLabel('Folder to add').fill('/home/ann/a project');
    await place(page).getByRole('button', { name: 'Add', exact: true }).click();
    await place(page).getByText('file:///home/ann/a%20project').waitFor();
    await place(page)
      .getByRole('link', { name: /^Tokens/ })
      .click();
    await place(page).getByRole('table').getByRole('link', { name: 'place_order' }).click();
    await place(page).getByRole('heading', { name: 'place_order' }).waitFor();
  });
});
