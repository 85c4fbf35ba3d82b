import { connect } from 'fullmcp/client';

// A URL, or a script to start. Default: the URL in MCP_SERVER_URL.
const client = await connect(process.argv[2]);

console.log(`Connected to ${client.server.info?.name}, which speaks ${client.server.revision}`);
for await (const { name, description } of client.tools()) console.log(`- ${name}: ${description}`);

const { text } = await client.callTool('add', { a: 2, b: 40 });
console.log(`2 + 40 = ${text}`);

await client.close();
