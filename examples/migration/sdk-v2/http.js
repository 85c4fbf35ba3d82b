import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createShop } from './shop.js';

const users = new Map([['secret-of-ada', 'ada']]);
const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();
const handle = toNodeHandler(createMcpHandler(createShop));

const listening = createServer((req, res) => {
  if (!validateHost(req, res) || !validateOrigin(req, res)) return;
  const token = req.headers.authorization?.replace(/^Bearer /, '');
  const clientId = users.get(token ?? '');
  if (clientId === undefined) res.writeHead(401).end();
  else void handle(Object.assign(req, { auth: { token, clientId, scopes: [] } }), res);
});
listening.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  console.log(`Listening on http://localhost:${listening.address().port}/mcp`);
});
