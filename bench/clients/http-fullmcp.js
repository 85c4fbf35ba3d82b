import { fullmcp } from '../fullmcp.js';
import { call, info } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const { connect } = await fullmcp('client');
const client = await connect(`http://127.0.0.1:${process.argv[2]}/mcp`, { client: info });
answerParent(0, { run: load(async () => (await client.callTool(call.name, call.arguments)).text) });
