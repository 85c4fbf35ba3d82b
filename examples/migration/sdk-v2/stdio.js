import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createShop } from './shop.js';

serveStdio(createShop);
