// The least that any client of JSON over node:http has to do.
import http from 'node:http';
import { callMessage, revision } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const agent = new http.Agent({ keepAlive: true });
const port = process.argv[2];
let id = 0;

function post(body) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'content-length': Buffer.byteLength(body),
    };
    const request = http.request({ agent, host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers });
    request.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    request.on('error', reject);
    request.end(body);
  });
}

answerParent(0, {
  run: load(async () => JSON.parse(await post(callMessage(++id))).result.content[0].text),
});
