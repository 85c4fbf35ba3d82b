import { fullmcp } from '../fullmcp.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';

const { serve } = await fullmcp('node');
const server = createFullmcp({ fallbacks: { tasks: {}, asking: 'model' } });
const { port } = await serve(server, { port: 0, host: '127.0.0.1' });
answerParent(port);
