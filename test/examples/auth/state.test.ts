import { inProcess } from 'fullmcp';
import { expect, test } from 'vitest';
import { baskets, orders, shop } from '../../../examples/caller/state.js';

const ada = { caller: { subject: 'ada' } };

test('the cart of the page is kept between calls', async () => {
  const call = inProcess(shop, ada);
  await call('tools/call', { name: 'add', arguments: { item: 'tea' } });
  await call('tools/call', { name: 'add', arguments: { item: 'cake' } });
  expect(await call('tools/call', { name: 'show' })).toMatchObject({
    structuredContent: { items: ['tea', 'cake'] },
  });
});

test('the baskets of the page are kept apart, and can be found again', async () => {
  const call = inProcess(baskets, ada);
  const created = await call('tools/call', { name: 'create_basket' });
  await call('tools/call', { name: 'create_basket' });
  const { id } = created['structuredContent'] as { id: string };
  await call('tools/call', { name: 'add_item', arguments: { id, item: 'tea' } });
  const { content } = (await call('tools/call', { name: 'list_baskets' })) as unknown as {
    content: { text: string }[];
  };
  const listed = JSON.parse(content[0]?.text ?? '') as { id: string; value: { items: string[] } }[];
  expect(listed).toHaveLength(2);
  expect(listed.find((each) => each.id === id)?.value).toEqual({ items: ['tea'] });
});

test('the checkout of the page empties the cart once, after the answer', async () => {
  const call = inProcess(orders, { ...ada, capabilities: { elicitation: {} } });
  const asked = await call('tools/call', { name: 'checkout' });
  expect(asked.resultType).toBe('input_required');
  const answered = await call('tools/call', {
    name: 'checkout',
    requestState: asked['requestState'] as string,
    inputResponses: { sure: { action: 'accept', content: { yes: true } } },
  });
  expect(answered).toMatchObject({ content: [{ text: 'Ordered 0 items' }] });
});
