import { MCPServer } from 'mcp-framework';

await new MCPServer({ name: 'bench', version: '1.0.0', transport: { type: 'stdio' } }).start();
