// Checks that every export of every entry, and every member of an export, has a doc comment, which editors show on hover, and that the
// default in the comment of an option is the one in its table.
import { relative } from 'node:path';
import ts from 'typescript-5.9';
import { conclude, root } from './files.js';
import { compareDefaults } from './option-defaults.js';
import { docOf, isOurs, isPrivate, readPublicTypes } from './public-types.js';

const { checker, entries } = readPublicTypes();

/** @type {Set<ts.Declaration>} */
const seen = new Set();
/** @type {string[]} */
const failures = [];
let exported = 0;

for (const { exports } of entries) for (const symbol of exports) checkExport(symbol);
failures.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
if (failures.length > 0)
  failures.push(`${failures.length} of ${seen.size} declarations have no doc comment. Write one for each.`);
const defaults = compareDefaults();
failures.push(...defaults.failures);
conclude(
  failures,
  `${exported} exports and ${seen.size - exported} members have doc comments, and ${defaults.compared} documented defaults are true`,
);

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
 * The type's members, including inherited members and those of nested object types.
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
  if (docOf(declaration).text !== '') return;
  const file = declaration.getSourceFile();
  const { line } = file.getLineAndCharacterOfPosition(declaration.getStart());
  failures.push(`${relative(root, file.fileName)}:${line + 1} ${name}`);
}
