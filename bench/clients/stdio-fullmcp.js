import { serverPath } from '../child.js';
import { fullmcp } from '../fullmcp.js';
import { call, info } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const { connect } = await fullmcp('client');
const server = { command: process.execPath, args: [serverPath('stdio-fullmcp')] };
const client = await connect(server, { client: info });
answerParent(0, { run: load(async () => (await client.callTool(call.name, call.arguments)).text) });
