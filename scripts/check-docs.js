// Every export of every entry, and every member of what they export, has a doc comment: the editor shows it on hover.
import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import ts from 'typescript-5.9';
import { conclude, root } from './files.js';

const dist = join(root, 'dist') + sep;
const entries = typesOfEntries();
const program = ts.createProgram(entries, {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  noEmit: true,
  types: ['node'],
});
const checker = program.getTypeChecker();

/** @type {Set<ts.Declaration>} */
const seen = new Set();
/** @type {string[]} */
const failures = [];
let exported = 0;

for (const entry of entries) {
  const file = program.getSourceFile(entry);
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${entry} does not exist. Run \`npm run build\`.`);
  for (const symbol of checker.getExportsOfModule(module)) checkExport(symbol);
}
failures.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
if (failures.length > 0) failures.push(`${failures.length} of ${seen.size} have no doc comment.`);
conclude(failures, `${exported} exports and ${seen.size - exported} members have a doc comment`);

/** @param {ts.Symbol} symbol */
function checkExport(symbol) {
  const original = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  for (const declaration of original.declarations ?? []) {
    if (!isOurs(declaration) || seen.has(declaration)) continue;
    exported++;
    check(declaration, symbol.name);
    if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration))
      checkMembers(checker.getDeclaredTypeOfSymbol(original), symbol.name);
    if (ts.isClassDeclaration(declaration))
      checkMembers(checker.getTypeOfSymbolAtLocation(original, declaration), symbol.name);
    if (ts.isTypeAliasDeclaration(declaration)) checkLiterals(declaration.type, symbol.name);
  }
}

/**
 * The type's members, those that it inherits and those of the objects written inside of them included.
 *
 * @param {ts.Type} type
 * @param {string} owner
 */
function checkMembers(type, owner) {
  for (const { name, declarations = [] } of type.getProperties()) {
    if (/^(~|__@|#|prototype$)/.test(name)) continue;
    for (const declaration of declarations) checkMember(declaration, `${owner}.${name}`);
  }
  for (const { declaration } of type.getCallSignatures()) {
    // A function type is inherited from a type alias, which has the comment.
    if (declaration && ts.isCallSignatureDeclaration(declaration)) checkMember(declaration, `${owner}()`);
  }
}

/**
 * @param {ts.Declaration} declaration
 * @param {string} name
 */
function checkMember(declaration, name) {
  if (!isOurs(declaration) || seen.has(declaration) || isPrivate(declaration)) return;
  check(declaration, name);
  checkLiterals(declaration, name);
}

/**
 * @param {ts.Node} node
 * @param {string} owner
 */
function checkLiterals(node, owner) {
  // The object of `T extends { … }` is a pattern: no value has that type.
  if (ts.isConditionalTypeNode(node)) return;
  if (ts.isTypeLiteralNode(node)) checkMembers(checker.getTypeAtLocation(node), owner);
  else ts.forEachChild(node, (child) => checkLiterals(child, owner));
}

/**
 * @param {ts.Declaration} declaration
 * @param {string} name
 */
function check(declaration, name) {
  seen.add(declaration);
  if (isDocumented(declaration)) return;
  const file = declaration.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(declaration.getStart());
  failures.push(`${relative(root, file.fileName)}:${line + 1} ${name}`);
}

/** @param {ts.Declaration} declaration */
function isDocumented(declaration) {
  const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  return ts
    .getJSDocCommentsAndTags(node)
    .some((doc) => ts.isJSDoc(doc) && ts.getTextOfJSDocComment(doc.comment)?.trim());
}

/** @param {ts.Declaration} declaration */
function isOurs(declaration) {
  return join(declaration.getSourceFile().fileName).startsWith(dist);
}

/** @param {ts.Declaration} declaration */
function isPrivate(declaration) {
  return Boolean(ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private);
}

/** @returns {string[]} The declaration files of package.json's exports. */
function typesOfEntries() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' ? [join(root, entry.types)] : [],
  );
}
