// Holds the layers and the rooms: which folder may import which, no circles, where Node and third parties may be named, where
// revisions are compared, how many files a folder has. Also holds the table of docs/architecture.md; `--write` writes it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';
import { layerFailures, readModule, widthFailures } from './layer-failures.js';
import { withTable } from './layers.js';

const PAGE = 'docs/architecture.md';

process.chdir(root);
const files = [...filesUnder('src'), ...filesUnder('test')];
const modules = files
  .filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
  .map((file) => readModule(file.slice('src/'.length), readFileSync(file, 'utf8')));

conclude(
  [...layerFailures(modules), ...widthFailures(files), ...pageFailures()],
  `${modules.length} files keep their layers and rooms; no file and no folder imports itself by a way round`,
);

/** @returns {string[]} */
function pageFailures() {
  const page = readFileSync(PAGE, 'utf8');
  const current = withTable(page);
  if (current === undefined) return [`${PAGE} has no <!-- layers --> … <!-- /layers -->. Add the two lines.`];
  if (current === page) return [];
  if (!process.argv.includes('--write'))
    return [
      `The table in ${PAGE} is not the one in scripts/layers.js. Run scripts/check-layers.js with --write.`,
    ];
  writeFileSync(PAGE, current);
  return [];
}
