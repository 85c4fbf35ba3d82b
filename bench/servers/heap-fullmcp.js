import { fullmcp } from '../fullmcp.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';

const { serve } = await fullmcp('node');
// Shorter than the default of ten minutes, so that the run sees idle sessions being closed.
const sessionIdleMs = Number(process.argv[3]);
const { port } = await serve(createFullmcp({ changes: true }), { port: 0, host: '127.0.0.1', sessionIdleMs });
answerParent(port);
