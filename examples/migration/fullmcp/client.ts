import { connect } from 'fullmcp/client';

const client = await connect(process.argv[2], {
  elicit: () => ({ action: 'accept', content: { seats: 2 } }),
  sample: () => ({ role: 'assistant', model: 'small-1', content: { type: 'text', text: 'Short.' } }),
});

const tools = await client.tools().all(); // all pages
console.log(tools.map(({ name }) => name).join(' '));

const sum = await client.callTool('add', { a: 2, b: 40 });
console.log(sum.text);

const order = await client.callTool('find_order', { id: 1 });
console.log(order.data);

const missing = await client.callTool('find_order', { id: 9 });
console.log(missing.isError, missing.text);

await client.callTool(
  'import_orders',
  { count: 2 },
  { timeoutMs: 10_000, onProgress: ({ progress, total }) => console.log(`${progress}/${total}`) },
);
console.log((await client.callTool('book')).text);
console.log((await client.callTool('summarize', { text: 'Long.' })).text);

const { text } = await client.readResource('orders://1');
console.log(text);

const { messages } = await client.getPrompt('review', { code: 'a = 1' });
console.log(messages.map(({ content }) => 'text' in content && content.text).join('\n'));

await client.close();
