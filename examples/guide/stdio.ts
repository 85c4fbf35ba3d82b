import { createServer, tool } from 'fullmcp';
import { serveStdio } from 'fullmcp/stdio';

// #region lifespan
const server = createServer({
  name: 'guide-stdio',
  version: '1.0.0',
  lifespan: async function* () {
    console.log('opened'); // goes to stderr: stdout belongs to the protocol
    yield { since: Date.now() };
    console.log('closed');
  },
  tools: { ping: tool({ run: () => 'pong' }) },
});

serveStdio(server, { drainMs: 1000, closeMs: 500 });
// #endregion
