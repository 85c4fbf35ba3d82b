// Checks the length of files: 50 to 250 lines are the aim, one idea each.
import { readFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';

const NOTE_ABOVE = 250;
const FAIL_ABOVE = 300;

process.chdir(root);
const lengths = filesUnder('src')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').trimEnd().split('\n').length }));
const long = lengths.filter(({ lines }) => lines > NOTE_ABOVE);
const tooLong = long.filter(({ lines }) => lines > FAIL_ABOVE);

for (const { file, lines } of long) if (lines <= FAIL_ABOVE) console.log(`note: ${file} has ${lines} lines`);
conclude(
  tooLong.map(
    ({ file, lines }) => `${file} has ${lines} lines; at most ${FAIL_ABOVE} are allowed. Split it by idea.`,
  ),
  `${lengths.length} files, ${long.length} of them above ${NOTE_ABOVE} lines`,
);
