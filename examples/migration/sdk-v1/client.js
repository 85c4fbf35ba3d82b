import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const client = new Client(
  { name: 'shopper', version: '1.0.0' },
  { capabilities: { elicitation: { form: {} }, sampling: {} } },
);
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { seats: 2 } }));
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
  role: 'assistant',
  model: 'small-1',
  content: { type: 'text', text: 'Short.' },
}));
await client.connect(new StdioClientTransport({ command: 'node', args: [process.argv[2]] }));

const { tools } = await client.listTools(); // one page
console.log(tools.map(({ name }) => name).join(' '));

const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } });
console.log(sum.content[0].text);

const order = await client.callTool({ name: 'find_order', arguments: { id: 1 } });
console.log(order.structuredContent);

const missing = await client.callTool({ name: 'find_order', arguments: { id: 9 } });
console.log(missing.isError, missing.content[0].text);

await client.callTool({ name: 'import_orders', arguments: { count: 2 } }, undefined, {
  timeout: 10_000,
  onprogress: ({ progress, total }) => console.log(`${progress}/${total}`),
});
console.log((await client.callTool({ name: 'book' })).content[0].text);
console.log((await client.callTool({ name: 'summarize', arguments: { text: 'Long.' } })).content[0].text);

const { contents } = await client.readResource({ uri: 'orders://1' });
console.log(contents[0].text);

const { messages } = await client.getPrompt({ name: 'review', arguments: { code: 'a = 1' } });
console.log(messages[0].content.text);

await client.close();
