// Prints declarations of the package for the reference.
import ts from 'typescript-5.9';

/**
 * The text of a declaration without comments and without words that only a declaration file needs.
 * @param {ts.Node} node
 */
export function source(node) {
  const printer = ts.createPrinter({ removeComments: true });
  return printer
    .printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replace(/^(export )?(declare )?(?=function|class|interface|type|const)/, '')
    .replace(/;(\s*\})/g, '$1')
    .replace(/;$/, '')
    .replace(/\{\s+/g, '{ ')
    .replace(/,?\s+\}/g, ' }')
    .replace(/\n\s+/g, ' ')
    .replace(/\breadonly (?=\w+\??:)/g, '');
}

/** A call, a method or a function type, all in the form `(a: A): B`. @param {ts.Node} node */
export function callText(node) {
  const { typeParameters, parameters, type } = /** @type {ts.SignatureDeclaration} */ (node);
  const generics = typeParameters?.length ? `<${typeParameters.map(source).join(', ')}>` : '';
  return `${generics}(${parameters.map(source).join(', ')})${type ? `: ${source(type)}` : ''}`;
}

/** @param {ts.InterfaceDeclaration | ts.ClassDeclaration} declaration */
export function headOf({ name, typeParameters, heritageClauses = /** @type {any} */ ([]), kind }) {
  const word = kind === ts.SyntaxKind.ClassDeclaration ? 'class' : 'interface';
  const parameters = typeParameters?.length ? `<${typeParameters.map(source).join(', ')}>` : '';
  const heritage = heritageClauses
    .map((/** @type {ts.Node} */ clause) => ` ${source(clause).trim()}`)
    .join('');
  return `${word} ${name?.text ?? ''}${parameters}${heritage}`;
}

/**
 * Takes "Default: 60 s." out of a comment.
 * @param {string} text
 */
export function splitDefault(text) {
  const found = /(?:^|\s)Default: ((?:[^.]|\.(?!\s|$))+)\.?(?=\s|$)/.exec(text);
  if (found === null) return { text, fallback: '' };
  const rest = `${text.slice(0, found.index)}${text.slice(found.index + found[0].length)}`;
  return { text: rest.trim(), fallback: found[1] ?? '' };
}
