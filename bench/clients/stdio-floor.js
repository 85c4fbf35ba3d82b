// What any client has to do that writes lines of JSON to a process and reads its lines.

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
    const answered = new Promise((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${callMessage(id)}\n`);
    return (await answered).content[0].text;
  }),
});
