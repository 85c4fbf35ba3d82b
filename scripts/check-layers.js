// Enforces the layers and the rooms: which folder may import which, no circles, where Node and third parties may be named, where
// revisions are compared. Names folders with many entries. Also checks the table in docs/architecture.md; `--write` updates it.
import { readFileSync, writeFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';
import { layerFailures, readModule, widthNotes } from './layer-failures.js';
import { withTable } from './layers.js';

const PAGE = 'docs/architecture.md';

process.chdir(root);
const files = [...filesUnder('src'), ...filesUnder('test')];
const modules = files
  .filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
  .map((file) => readModule(file.slice('src/'.length), readFileSync(file, 'utf8')));

for (const note of widthNotes(files)) console.log(`note: ${note}`);
conclude(
  [...layerFailures(modules), ...pageFailures()],
  `${modules.length} files keep to their layers and rooms, without a circle of imports`,
);

/** @returns {string[]} */
function pageFailures() {
  const page = readFileSync(PAGE, 'utf8');
  const current = withTable(page);
  if (current === undefined)
    return [`${PAGE} has no <!-- layers --> … <!-- /layers -->. Add these two lines.`];
  if (current === page) return [];
  if (!process.argv.includes('--write'))
    return [`The table in ${PAGE} differs from scripts/layers.js. Run: node scripts/check-layers.js --write`];
  writeFileSync(PAGE, current);
  return [];
}
