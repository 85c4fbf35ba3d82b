// The least that any client has to do that exchanges lines of JSON with a process.

import { spawnStdio } from '../child.js';
import { callMessage } from '../request.js';
import { answerParent } from '../servers/report.js';
import { load } from './load.js';

const child = spawnStdio('stdio-fullmcp');
const waiting = new Map();
let pending = '';
child.stdout.setEncoding('utf8').on('data', (chunk) => {
  const lines = (pending + chunk).split('\n');
  pending = lines.pop() ?? '';
  for (const line of lines) {
    const { id, result } = JSON.parse(line);
    waiting.get(id)(result);
    waiting.delete(id);
  }
});
let last = 0;
answerParent(0, {
  run: load(async () => {
    const id = ++last;
    const response = new Promise((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${callMessage(id)}\n`);
    return (await response).content[0].text;
  }),
});
