import { answer } from './answer.js';

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  const answers = lines.map(answer).filter((text) => text !== undefined);
  if (answers.length > 0) process.stdout.write(`${answers.join('\n')}\n`);
});
