import { fullmcp } from '../fullmcp.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';

const { serve } = await fullmcp('node');
// The default is ten minutes; the wish here is to see that what idles is let go.
const sessionIdleMs = Number(process.argv[3]);
const { port } = await serve(createFullmcp({ changes: true }), { port: 0, host: '127.0.0.1', sessionIdleMs });
answerParent(port);
