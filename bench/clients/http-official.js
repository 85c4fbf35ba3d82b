import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { call, info, revision } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const client = new Client(info, { versionNegotiation: { mode: { pin: revision } } });
await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${process.argv[2]}/mcp`)));
const { name, arguments: args } = call;
answerParent(0, {
  run: load(async () => (await client.callTool({ name, arguments: args })).content[0].text),
});
