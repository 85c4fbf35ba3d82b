import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { handle } from './server.js';

const app = new Hono();
app.all('/mcp', (c) => handle(c.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
