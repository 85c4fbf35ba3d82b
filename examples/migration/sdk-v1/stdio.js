import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createShop } from './shop.js';

await createShop().connect(new StdioServerTransport());
