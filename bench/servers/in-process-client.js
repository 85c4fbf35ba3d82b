import { fullmcp } from '../fullmcp.js';
import { call } from '../request.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';
import { timed } from './timed.js';

const { connect } = await fullmcp('client');
const client = await connect(createFullmcp());
answerParent(0, { run: timed(() => client.callTool(call.name, call.arguments)) });
