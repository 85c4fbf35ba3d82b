// Names the long files: 50 to 250 lines are what a file of one idea usually has. A longer one that is one idea is better than splinters.
import { readFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';

const NOTE_ABOVE = 250;

process.chdir(root);
const lengths = filesUnder('src')
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').trimEnd().split('\n').length }));
const long = lengths.filter(({ lines }) => lines > NOTE_ABOVE);

for (const { file, lines } of long) console.log(`note: ${file} has ${lines} lines`);
conclude([], `${lengths.length} files, ${long.length} of them above ${NOTE_ABOVE} lines`);
