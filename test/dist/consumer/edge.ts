import { createServer, tool } from 'fullmcp';
import { createHandler } from 'fullmcp/http';

const server = createServer({
  name: 'edge',
  version: '1.0.0',
  tools: { hello: tool({ description: 'Says hello', run: () => 'hello' }) },
});

export default { fetch: createHandler(server) };
