// The same server with plain JSON Schema, to measure a start without a schema library.
import { fullmcp } from '../fullmcp.js';
import { info } from '../request.js';

const [{ createServer, tool }, { serveStdio }] = await Promise.all([fullmcp('index'), fullmcp('stdio')]);

const input = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const echo = tool({ description: 'Returns its text', input, run: ({ text }) => text });
serveStdio(createServer({ ...info, tools: { echo } }));
