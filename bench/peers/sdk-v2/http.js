import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { makeServer } from './server.js';

const isHostAllowed = localhostHostValidation();
const isOriginAllowed = localhostOriginValidation();
const handle = toNodeHandler(createMcpHandler(makeServer));
createServer((req, res) => {
  if (isHostAllowed(req, res) && isOriginAllowed(req, res)) void handle(req, res);
}).listen(Number(process.env.PORT), '127.0.0.1');
