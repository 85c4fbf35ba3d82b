import { fullmcp } from '../fullmcp.js';
import { call } from '../request.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';
import { timed } from './timed.js';

const { inProcess } = await fullmcp('index');
const ask = inProcess(createFullmcp());
answerParent(0, { run: timed(() => ask('tools/call', call)) });
