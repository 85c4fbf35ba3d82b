import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { call, info } from '../request.js';
import { createOfficial } from './official-server.js';
import { answerParent } from './report.js';
import { timed } from './timed.js';

const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
const client = new Client(info);
await createOfficial().connect(serverSide);
await client.connect(clientSide);
const { name, arguments: args } = call;
answerParent(0, { run: timed(() => client.callTool({ name, arguments: args })) });
