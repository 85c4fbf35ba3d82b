// The least that any server of JSON lines has to do.
import { answerTo } from '../request.js';

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) process.stdout.write(`${answerTo(JSON.parse(line))}\n`);
});
