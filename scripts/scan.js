// Reads JavaScript and TypeScript as tokens and comments: enough to find imports, names, and the prose in strings and comments.

/**
 * @typedef {object} Token
 * @property {'word' | 'string' | 'template' | 'regex' | 'punct'} kind
 * @property {string} text The string's value without its quotes; otherwise the source text.
 * @property {number} line
 */

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {number} line
 * @property {boolean} dynamic
 */

const OPERATORS = [
  '...',
  '===',
  '!==',
  '**=',
  '??=',
  '||=',
  '&&=',
  '=>',
  '<=',
  '>=',
  '==',
  '!=',
  '?.',
  '&&',
  '||',
  '??',
];

// After these words a slash starts a regular expression; after any other word it divides.
const BEFORE_VALUE = new Set(
  'return typeof case in of do else void delete throw new await yield instanceof'.split(' '),
);

/**
 * @typedef {object} Comment
 * @property {string} text With its marks, such as `//`.
 * @property {number} line
 */

/**
 * @param {string} source
 * @param {Comment[]} [comments] Gets the comments, which are not tokens.
 * @returns {Token[]}
 */
export function tokenize(source, comments = []) {
  /** @type {Token[]} */
  const tokens = [];
  /** @type {number[]} The brace depth at which each open template's `${` ends. */
  const templates = [];
  let depth = 0;
  let line = 1;
  let at = source.startsWith('#!') ? lineEnd(source, 0) : 0;

  /** @param {Token['kind']} kind @param {number} end @param {string} [text] */
  const push = (kind, end, text = source.slice(at, end)) => {
    tokens.push({ kind, text, line });
    skip(end);
  };
  /** @param {number} end */
  const skip = (end) => {
    for (let i = at; i < end; i++) if (source[i] === '\n') line++;
    at = end;
  };
  /** @param {number} end */
  const comment = (end) => {
    comments.push({ text: source.slice(at, end), line });
    skip(end);
  };
  const readTemplate = () => {
    let end = at + 1;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end)) {
      end += source[end] === '\\' ? 2 : 1;
    }
    const text = source.slice(at + 1, end);
    const open = source[end] === '$';
    push('template', end + (open ? 2 : 1), text);
    if (open) templates.push(depth);
  };

  while (at < source.length) {
    const char = source.charAt(at);
    const word = /[\p{ID_Continue}$#@\u200c\u200d]+/uy;
    word.lastIndex = at;
    const name = word.exec(source)?.[0];
    if (/\s/.test(char)) skip(at + 1);
    else if (source.startsWith('//', at)) comment(lineEnd(source, at));
    else if (source.startsWith('/*', at)) comment(after(source, '*/', at + 2));
    else if (char === '"' || char === "'") {
      const end = stringEnd(source, at);
      push('string', end, source.slice(at + 1, end - 1));
    } else if (char === '`') readTemplate();
    else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      readTemplate();
    } else if (name !== undefined) push('word', at + name.length);
    else if (char === '/' && valueMayStart(tokens.at(-1))) push('regex', regexEnd(source, at));
    else {
      if (char === '{') depth++;
      if (char === '}') depth--;
      const operator = OPERATORS.find((text) => source.startsWith(text, at)) ?? char;
      push('punct', at + operator.length);
    }
  }
  return tokens;
}

/**
 * Every module a file names: `import`, `export … from`, `import()`, `require()`.
 * @param {Token[]} tokens
 * @returns {Import[]}
 */
export function importsOf(tokens) {
  /** @type {Import[]} */
  const found = [];
  tokens.forEach((token, i) => {
    if (token.kind !== 'word' || isPunct(tokens[i - 1], '.', '?.')) return;
    const next = tokens[i + 1];
    if ((token.text === 'from' || token.text === 'import') && next?.kind === 'string') {
      found.push({ specifier: next.text, line: next.line, dynamic: false });
    } else if ((token.text === 'import' || token.text === 'require') && isPunct(next, '(')) {
      const argument = tokens[i + 2];
      if (argument?.kind === 'string' || argument?.kind === 'template') {
        found.push({ specifier: argument.text, line: argument.line, dynamic: true });
      }
    }
  });
  return found;
}

/**
 * Where a global is used by its bare name. `x.name` and the key in `{ name: … }` are other things, and so is the name in a block that has
 * `const { name } = globalThis`, which is undefined where the global does not exist.
 * @param {Token[]} tokens
 * @param {...string} names
 * @returns {Token[]}
 */
export function globalsOf(tokens, ...names) {
  const blocks = tokens.flatMap((token, i) =>
    names.includes(token.text) && isTakenFromGlobalThis(tokens, i)
      ? [{ name: token.text, ...blockAround(tokens, i - 2) }]
      : [],
  );
  return tokens.filter(
    (token, i) =>
      token.kind === 'word' &&
      names.includes(token.text) &&
      !isPunct(tokens[i - 1], '.', '?.') &&
      !(isPunct(tokens[i + 1], ':') && isPunct(tokens[i - 1], '{', ',')) &&
      !blocks.some(({ name, from, to }) => name === token.text && from < i && i < to),
  );
}

/** Whether the token is the name in `const { name } = globalThis`. @param {Token[]} tokens @param {number} at */
function isTakenFromGlobalThis(tokens, at) {
  return (
    tokens[at - 2]?.text === 'const' &&
    isPunct(tokens[at - 1], '{') &&
    isPunct(tokens[at + 1], '}') &&
    isPunct(tokens[at + 2], '=') &&
    tokens[at + 3]?.text === 'globalThis'
  );
}

/** The indexes of the braces around a token. @param {Token[]} tokens @param {number} at */
function blockAround(tokens, at) {
  let from = at;
  for (let depth = 0; from >= 0 && depth >= 0; from--) {
    if (isPunct(tokens[from], '}')) depth++;
    if (isPunct(tokens[from], '{')) depth--;
  }
  let to = at;
  for (let depth = 0; to < tokens.length && depth >= 0; to++) {
    if (isPunct(tokens[to], '{')) depth++;
    if (isPunct(tokens[to], '}')) depth--;
  }
  return { from, to };
}

/**
 * Where code is made from strings.
 * @param {Token[]} tokens
 * @returns {Token[]}
 */
export function evalsOf(tokens) {
  return tokens.filter((token, i) => {
    if (token.kind !== 'word' || isPunct(tokens[i - 1], '.', '?.')) return false;
    if (token.text === 'eval') return isPunct(tokens[i + 1], '(');
    return token.text === 'Function' && (tokens[i - 1]?.text === 'new' || isPunct(tokens[i + 1], '('));
  });
}

/**
 * @param {Token | undefined} token
 * @param {...string} texts
 */
export function isPunct(token, ...texts) {
  return token?.kind === 'punct' && texts.includes(token.text);
}

/** @param {Token | undefined} before */
function valueMayStart(before) {
  if (before === undefined) return true;
  if (before.kind === 'word') return BEFORE_VALUE.has(before.text);
  return before.kind === 'punct' && ![')', ']', '}'].includes(before.text);
}

/** @param {string} source @param {number} at */
function lineEnd(source, at) {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

/** @param {string} source @param {string} mark @param {number} at */
function after(source, mark, at) {
  const found = source.indexOf(mark, at);
  return found < 0 ? source.length : found + mark.length;
}

/** @param {string} source @param {number} at */
function stringEnd(source, at) {
  let end = at + 1;
  while (end < source.length && source[end] !== source[at]) end += source[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** @param {string} source @param {number} at */
function regexEnd(source, at) {
  let inClass = false;
  let end = at + 1;
  while (end < source.length && source[end] !== '\n' && (inClass || source[end] !== '/')) {
    if (source[end] === '[') inClass = true;
    if (source[end] === ']') inClass = false;
    end += source[end] === '\\' ? 2 : 1;
  }
  return end + 1;
}
