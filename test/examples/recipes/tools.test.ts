import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testClient } from 'fullmcp/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import confirm, { projects } from '../../../examples/recipes/confirm.js';
import form, { issues } from '../../../examples/recipes/form.js';
import paginate from '../../../examples/recipes/paginate.js';
import progress, { compress } from '../../../examples/recipes/progress.js';
import rateLimit from '../../../examples/recipes/rate-limit.js';
import truncate from '../../../examples/recipes/truncate.js';

// Runs the recipes about tools and what they return.

/** A picture of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

it('the recipe for pictures returns an image with a caption, and does not take paths', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'album-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'sunset.png'), PIXEL, 'base64');
  vi.stubEnv('PICTURES', folder);
  const { default: album } = await import('../../../examples/recipes/image.js');
  await using client = await testClient(album);
  const { content } = await client.callTool('show_picture', { name: 'sunset' });
  expect(content).toEqual([
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
    { type: 'text', text: 'sunset.png, 70 bytes' },
  ]);
  expect((await client.callTool('show_picture', { name: 'moon' })).text).toBe(
    'There is no picture with the name moon.',
  );
  expect((await client.callTool('show_picture', { name: '../../etc/passwd' })).isError).toBe(true);
});

it('the recipe for progress reports each step to the client', async () => {
  await using client = await testClient(progress);
  const lines: string[] = [];
  const data = await compress(client as never, ['one'.repeat(100), 'two'.repeat(100)], (line) =>
    lines.push(line),
  );
  expect(lines).toEqual(['1 of 2: Compressed document 1', '2 of 2: Compressed document 2']);
  expect(data).toMatchObject({ documents: 2, bytes: expect.any(Number) });
});

describe('the recipe that confirms before it deletes', () => {
  it('keeps the project if the user does not tick the box, or declines', async () => {
    await using unsure = await testClient(confirm, { answers: { sure: { sure: false } } });
    expect((await unsure.callTool('delete_project', { name: 'old-shop' })).text).toBe('old-shop was kept.');
    await using declining = await testClient(confirm, { answers: { sure: { action: 'decline' } } });
    expect((await declining.callTool('delete_project', { name: 'old-shop' })).isError).toBe(true);
    expect(projects.has('old-shop')).toBe(true);
  });

  it('shows the number of files, and deletes after a yes', async () => {
    const questions: string[] = [];
    await using client = await testClient(confirm, {
      answers: {
        sure: ({ message }: { message: string }) => {
          questions.push(message);
          return { sure: true };
        },
      },
    });
    expect((await client.callTool('delete_project', { name: 'old-shop' })).text).toBe(
      'old-shop was deleted.',
    );
    expect(questions).toEqual(['Delete old-shop with 3000 files? This cannot be undone.']);
    expect([...projects.keys()]).toEqual(['website']);
  });
});

describe('the recipe with a form', () => {
  it('saves what the user filled in once, with defaults', async () => {
    const answers = { issue: { title: 'The door squeaks' } };
    await using client = await testClient(form, { answers });
    expect((await client.callTool('open_issue')).text).toBe('Opened "The door squeaks", priority normal');
    expect(issues).toEqual([{ title: 'The door squeaks', priority: 'normal' }]);
  });

  it('tells a user who declines from one who closes the form', async () => {
    await using declining = await testClient(form, { answers: { issue: { action: 'decline' } } });
    expect(await declining.callTool('open_issue')).toMatchObject({
      isError: false,
      text: 'The user does not want to open an issue.',
    });
    await using closing = await testClient(form, { answers: { issue: { action: 'cancel' } } });
    expect((await closing.callTool('open_issue')).isError).toBe(true);
  });
});

it('the recipe for pages lists every order once, and rejects a cursor that is not one', async () => {
  await using client = await testClient(paginate);
  const ids: number[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await client.callTool('list_orders', { ...(cursor && { cursor }) });
    const page = data as { orders: { id: number }[]; next?: string };
    ids.push(...page.orders.map(({ id }) => id));
    sizes.push(page.orders.length);
    cursor = page.next;
  } while (cursor !== undefined);
  expect(sizes).toEqual([50, 50, 50, 50, 30]);
  expect(ids).toEqual(Array.from({ length: 230 }, (_, i) => 230 - i));
  expect((await client.callTool('list_orders', { cursor: 'x' })).text).toContain('Start without one');
});

it('the recipe for large results gives the model the beginning, and the whole log by pages', async () => {
  await using client = await testClient(truncate);
  const { content, text } = await client.callTool('read_log', { day: '2026-11-18' });
  expect(text.length).toBeLessThan(3000);
  expect(text).toContain('2026-11-18 request 0 took 0 ms');
  const link = content.find((block) => block.type === 'resource_link');
  let whole = '';
  let uri = (link as { uri: string }).uri;
  for (;;) {
    const { contents } = await client.readResource(uri);
    whole += (contents[0] as { text: string }).text;
    const next = /output:\/\/\S+?offset=\d+/.exec((contents[1] as { text?: string } | undefined)?.text ?? '');
    if (next === null) break;
    uri = next[0];
  }
  expect(whole.split('\n')).toHaveLength(5000);
});

it('the recipe for rates counts callers apart, and an expensive tool on its own', async () => {
  const options = { maxRetries: 0 };
  await using ada = await testClient(rateLimit, { caller: { subject: 'ada' }, ...options });
  await using bea = await testClient(rateLimit, { caller: { subject: 'bea' }, ...options });
  for (let i = 0; i < 3; i++) await ada.callTool('translate', { text: 'Guten Tag' });
  await expect(ada.callTool('translate', { text: 'Guten Tag' })).rejects.toMatchObject({
    code: 'overloaded',
    data: { retryAfterMs: expect.any(Number) },
  });
  expect((await bea.callTool('translate', { text: 'Guten Tag' })).text).toBe('[translated] Guten Tag');
  expect((await ada.callTool('detect', { text: 'Grüße' })).text).toBe('German');
});
