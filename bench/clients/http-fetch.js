// The least that any client of JSON over fetch has to do.

import { callMessage, revision } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const url = `http://127.0.0.1:${process.argv[2]}/mcp`;
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': revision,
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
};
let id = 0;
answerParent(0, {
  run: load(async () => {
    const response = await fetch(url, { method: 'POST', headers, body: callMessage(++id) });
    return JSON.parse(await response.text()).result.content[0].text;
  }),
});
