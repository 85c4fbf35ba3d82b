import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { createOfficial } from './official-server.js';
import { answerParent } from './report.js';

const validateHost = localhostHostValidation();
const validateOrigin = localhostOriginValidation();
const handle = toNodeHandler(createMcpHandler(createOfficial));

const http = createServer((req, res) => {
  if (validateHost(req, res) && validateOrigin(req, res)) void handle(req, res);
});
http.listen(0, '127.0.0.1', () => answerParent(http.address().port));
