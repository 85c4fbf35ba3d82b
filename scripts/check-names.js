// Checks that one name means one thing: no two modules of src export types of the same name. Re-exports do not count. Also checks that
// small ideas which were once written again in each room are written once (`one-home.js`).
import { readFileSync } from 'node:fs';
import ts from 'typescript-5.9';
import { conclude, filesUnder, root } from './files.js';
import { homeFailures } from './one-home.js';

process.chdir(root);

/** @type {Map<string, Set<string>>} The files that declare a type of each name. */
const homes = new Map();
for (const file of filesUnder('src').filter((path) => path.endsWith('.ts'))) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  for (const name of exportedTypes(source)) homes.set(name, (homes.get(name) ?? new Set()).add(file));
}

const failures = [...homes]
  .filter(([, files]) => files.size > 1)
  .map(([name, files]) => `${[...files].join(' and ')} both export a type ${name}. Rename one of them.`);
const modules = [...filesUnder('src'), ...filesUnder('inspector')]
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
failures.push(...homeFailures(modules));
conclude(failures, `${homes.size} exported type names each have one meaning`);

/** @param {ts.SourceFile} source @returns {string[]} */
function exportedTypes(source) {
  /** @type {Set<string>} */
  const listed = new Set();
  for (const node of source.statements) {
    if (ts.isExportDeclaration(node) && node.moduleSpecifier === undefined && node.exportClause)
      ts.forEachChild(node.exportClause, (child) => {
        if (ts.isExportSpecifier(child)) listed.add((child.propertyName ?? child.name).text);
      });
  }
  return source.statements.flatMap((node) => {
    const declaresType =
      ts.isInterfaceDeclaration(node) ||
      ts.isTypeAliasDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isEnumDeclaration(node);
    if (!declaresType || node.name === undefined) return [];
    const isExported = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
    return isExported || listed.has(node.name.text) ? [node.name.text] : [];
  });
}
