// Checks that each sentence about a limitation, and each promise of README and of the pages that give guarantees, names what keeps it
// true, and that this exists. See promises.js. --root <folder> checks another project, --month 2027-03 as if it were that month.
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { conclude, filesUnder, readPages, root } from './files.js';
import { checkPromises } from './promises.js';

const { values: options } = parseArgs({ options: { root: { type: 'string' }, month: { type: 'string' } } });
process.chdir(options.root ?? root);
const { failures, found } = checkPromises({
  pages: readPages(),
  read: (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
  limitTests: filesUnder('test/limits').filter((file) => file.endsWith('.test.ts')),
  month: options.month ?? new Date().toISOString().slice(0, 7),
  results: existsSync('records/promises.json')
    ? JSON.parse(readFileSync('records/promises.json', 'utf8')).figures
    : {},
});
const limits = found.filter(({ mark }) => mark.kind === 'limit');
const dated = limits.filter(({ mark }) => mark.until !== undefined);
conclude(
  failures,
  `${limits.length} limitations (${dated.length} with a date) and ${found.length - limits.length} promises name what keeps them true`,
);
