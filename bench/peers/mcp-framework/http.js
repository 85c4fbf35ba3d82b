import { MCPServer } from 'mcp-framework';

await new MCPServer({
  name: 'bench',
  version: '1.0.0',
  transport: {
    type: 'http-stream',
    options: { port: Number(process.env.PORT), host: '127.0.0.1', endpoint: '/mcp', responseMode: 'batch' },
  },
}).start();
