// Removes from declaration files everything that the types of the entries do not need: half of all declarations are of functions
// and classes that only our own modules use. A compiler or an editor reads a third less for `fullmcp`, and does not look for the types
// of packages that only our own modules use.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import ts from 'typescript-5.9';

/**
 * A name of a module: one that it declares, imports or exports, or `*` for everything.
 * @typedef {{ file: string, name: string }} Name
 */

/**
 * @typedef {object} Module
 * @property {ts.SourceFile} source
 * @property {Map<string, ts.Statement[]>} declared
 * @property {Map<string, Name>} imported The names that the module uses, and where they come from.
 * @property {Map<string, Name>} exported The names that the module exports from other modules, or under another name.
 * @property {string[]} exportedFiles The modules of which it exports everything.
 */

/**
 * @param {string[]} files All declaration files.
 * @param {string[]} entries The files whose exports users can import.
 */
export function pruneTypes(files, entries) {
  const modules = new Map(files.map((file) => [file, readModule(file)]));
  /** @type {Map<string, Set<string>>} The names of each file that are needed. */
  const needed = new Map(files.map((file) => [file, new Set()]));
  /** @param {Name} name */
  const need = ({ file, name }) => {
    const [module, names] = [modules.get(file), needed.get(file)];
    if (module === undefined || names === undefined || names.has(name)) return;
    names.add(name);
    for (const other of neighbours(module, file, name)) need(other);
  };
  for (const file of entries) need({ file, name: '*' });
  for (const [file, module] of modules) {
    const text = prune(module, /** @type {Set<string>} */ (needed.get(file)), entries.includes(file));
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
  }
}

/** @param {string} file @returns {Module} */
function readModule(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true);
  /** @type {Module} */
  const module = {
    source,
    declared: new Map(),
    imported: new Map(),
    exported: new Map(),
    exportedFiles: [],
  };
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) readImport(statement, module);
    else if (ts.isExportDeclaration(statement)) readExport(statement, module);
    else
      for (const name of namesOf(statement))
        module.declared.set(name, [...(module.declared.get(name) ?? []), statement]);
  }
  return module;
}

/** @param {ts.ImportDeclaration} statement @param {Module} module */
function readImport({ importClause, moduleSpecifier }, { source, imported }) {
  const file = fileOf(moduleSpecifier, source);
  if (importClause?.name) imported.set(importClause.name.text, { file, name: 'default' });
  const bindings = importClause?.namedBindings;
  if (bindings === undefined) return;
  if (ts.isNamespaceImport(bindings)) return void imported.set(bindings.name.text, { file, name: '*' });
  for (const { name, propertyName = name } of bindings.elements)
    imported.set(name.text, { file, name: propertyName.text });
}

/** @param {ts.ExportDeclaration} statement @param {Module} module */
function readExport({ exportClause, moduleSpecifier }, { source, exported, exportedFiles }) {
  const file = moduleSpecifier === undefined ? source.fileName : fileOf(moduleSpecifier, source);
  if (exportClause === undefined) return void exportedFiles.push(file);
  if (ts.isNamespaceExport(exportClause))
    return void exported.set(exportClause.name.text, { file, name: '*' });
  for (const { name, propertyName = name } of exportClause.elements)
    exported.set(name.text, { file, name: propertyName.text });
}

/** @param {ts.Statement} statement @returns {string[]} */
function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = /** @type {ts.DeclarationStatement} */ (statement);
  if (name === undefined)
    throw new Error(`${statement.getSourceFile().fileName} declares something without a name.`);
  return [name.text];
}

/**
 * The names that are needed with a name.
 * @param {Module} module
 * @param {string} file
 * @param {string} name
 * @returns {Name[]}
 */
function neighbours({ declared, imported, exported, exportedFiles, source }, file, name) {
  if (name === '*') {
    const own = [...declared.keys(), ...exported.keys()].map((each) => ({ file, name: each }));
    return [...own, ...exportedFiles.map((other) => ({ file: other, name }))];
  }
  const from = exported.get(name);
  if (from !== undefined && from.file !== file) return [from];
  const others = exportedFiles.map((other) => ({ file: other, name }));
  if (from !== undefined && from.name !== name) others.push(from);
  const origin = imported.get(name);
  if (origin !== undefined) others.push(origin);
  return [...others, ...(declared.get(name) ?? []).flatMap((statement) => namesIn(statement, source))];
}

/**
 * All names in a declaration. Some are not of the module, which does no harm.
 * @param {ts.Statement} statement
 * @param {ts.SourceFile} source
 * @returns {Name[]}
 */
function namesIn(statement, source) {
  /** @type {Name[]} */
  const names = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isIdentifier(node)) names.push({ file: source.fileName, name: node.text });
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      names.push({
        file: fileOf(node.argument.literal, source),
        name: node.qualifier?.getText().split('.')[0] ?? '*',
      });
    ts.forEachChild(node, visit);
  };
  visit(statement);
  return names;
}

/**
 * The text of a module with the names that are needed, or undefined if there are none.
 * @param {Module} module
 * @param {Set<string>} needed
 * @param {boolean} isEntry
 */
function prune({ source, declared, exportedFiles }, needed, isEntry) {
  if (isEntry) return source.text;
  const isNeeded = (/** @type {string} */ name) => needed.has(name);
  const kept = source.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement))
      return pruneClause(statement, statement.importClause?.namedBindings, isNeeded);
    if (ts.isExportDeclaration(statement)) return pruneClause(statement, statement.exportClause, isNeeded);
    return namesOf(statement).some(isNeeded) ? [statement.getFullText()] : [];
  });
  const isUsed =
    [...declared.keys()].some(isNeeded) ||
    exportedFiles.length > 0 ||
    kept.some((text) => text.includes('export'));
  return needed.size > 0 && isUsed ? `${kept.join('').trimStart()}\n` : undefined;
}

/**
 * An import or export with the names that are needed.
 * @param {ts.ImportDeclaration | ts.ExportDeclaration} statement
 * @param {ts.NamedImportBindings | ts.NamedExportBindings | undefined} clause
 * @param {(name: string) => boolean} isNeeded
 * @returns {string[]}
 */
function pruneClause(statement, clause, isNeeded) {
  const text = statement.getFullText();
  if (clause === undefined || !('elements' in clause) || clause.elements.length === 0) return [text];
  const kept = clause.elements.filter(({ name }) => isNeeded(name.text)).map((element) => element.getText());
  if (kept.length === 0) return [];
  return [text.replace(clause.getText(), () => `{ ${kept.join(', ')} }`)];
}

/**
 * The declaration file behind a specifier, or the specifier of another package.
 * @param {ts.Node} specifier
 * @param {ts.SourceFile} source
 */
function fileOf(specifier, source) {
  const { text } = /** @type {ts.StringLiteral} */ (specifier);
  return text.startsWith('.')
    ? posix.join(posix.dirname(source.fileName), text.replace(/js$/, 'd.ts'))
    : text;
}
