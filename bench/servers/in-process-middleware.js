// A server with one kind of middleware, called in its own process. The argument is the kind.
import { fullmcp } from '../fullmcp.js';
import { kinds } from '../middleware/kinds.js';
import { call } from '../request.js';
import { createFullmcp } from './fullmcp-server.js';
import { answerParent } from './report.js';
import { timed } from './timed.js';

const kind = process.argv[2] ?? 'none';
// toolNames() reads the number of tools there.
process.argv[2] = '1';
const { inProcess } = await fullmcp('index');
const built = { ...(await fullmcp('middleware')), ...(await fullmcp('otel')) };
const { use, access } = kinds[kind] ?? {};
const ask = inProcess(createFullmcp({ use: use?.(built) ?? [], ...(access && { access: access(built) }) }));
answerParent(0, { run: timed(() => ask('tools/call', call)) });
