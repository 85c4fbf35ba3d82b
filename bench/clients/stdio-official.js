import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { serverPath } from '../child.js';
import { call, info, revision } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const client = new Client(info, { versionNegotiation: { mode: { pin: revision } } });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [serverPath('stdio-fullmcp')] }),
);
const { name, arguments: args } = call;
answerParent(0, {
  run: load(async () => (await client.callTool({ name, arguments: args })).content[0].text),
});
