// The lines of a shell as somebody with pnpm types them.

/** Commands of npm, in the order in which they are tried, and those of pnpm. */
const FORMS = /** @type {const} */ ([
  [/\bnpm init -y\b/g, 'pnpm init'],
  [/\bnpm ci\b/g, 'pnpm install --frozen-lockfile'],
  [/\bnpm (?:install|i)(?= +(?:(?:-D|-g|-E|--save-dev|--save-exact|--global) +)*[@\w./~])/g, 'pnpm add'],
  [
    /\bnpm (install|test|start|run|pack|publish|pkg|view|exec|create|version|audit|link|update)\b/g,
    'pnpm $1',
  ],
  [/\bnpx (?:-y|--yes) /g, 'pnpm dlx '],
  // The project that has the package does not exist yet.
  [/\bnpx fullmcp new\b/g, 'pnpm dlx fullmcp new'],
  [/\bnpx (?=[@\w])/g, 'pnpm exec '],
]);

/** The block for pnpm; undefined if nothing in it differs. Comments at the ends of lines stay in their column. @param {string} block */
export function pnpmOf(block) {
  const lines = block.split('\n').map((line) => {
    const [, code = line, comment = ''] = /^(.*?\S)(\s{2,}#.*)$/.exec(line) ?? [];
    return {
      code,
      form: inPnpm(code),
      comment: comment.trimStart(),
      column: line.length - comment.trimStart().length,
    };
  });
  if (lines.every(({ code, form }) => code === form)) return undefined;
  const wider = Math.max(
    0,
    ...lines.filter(({ comment }) => comment !== '').map(({ form, column }) => form.length + 2 - column),
  );
  return lines
    .map(({ form, comment, column }) => (comment === '' ? form : `${form.padEnd(column + wider)}${comment}`))
    .join('\n');
}

/** @param {string} code */
function inPnpm(code) {
  if (code.trimStart().startsWith('#')) return code;
  return FORMS.reduce((text, [pattern, form]) => text.replace(pattern, form), code);
}
