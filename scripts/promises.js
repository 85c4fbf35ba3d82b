// Reads the comments that say what keeps a sentence true: `<!-- limit: test/x.test.ts "name" -->` beside a sentence about something
// that does not work, `<!-- limit: until 2027-03 why -->` where no test can show it, and `<!-- promise: test/x.test.ts "name" -->`
// beside a promise. A test of a limitation passes while the limitation holds, and fails when the feature arrives.
import { tokenize } from './scan.js';

/**
 * @typedef {object} Mark One comment.
 * @property {'limit' | 'promise'} kind
 * @property {number} line
 * @property {string} [file]
 * @property {string} [name] Of the test, with its groups before it: "group > test".
 * @property {string} [until] A month, such as 2027-03.
 * @property {string} [why]
 * @property {string} [wrong] Why the comment cannot be read.
 */

/**
 * @typedef {object} Block A paragraph, an item of a list, or a row of a table.
 * @property {'paragraph' | 'item' | 'row'} kind
 * @property {string} text Without comments.
 * @property {number} line
 * @property {string} section The heading above it; an empty string above the first one of level 2.
 * @property {readonly string[]} cells Of a row.
 * @property {readonly string[]} head The cells of the table's head.
 * @property {readonly Mark[]} marks
 * @property {readonly Mark[]} tableMarks Those on the line above the table, which count for each of its rows.
 */

/**
 * @typedef {object} Project The pages, and everything that they are checked against.
 * @property {ReadonlyMap<string, string>} pages The text of each page by its path.
 * @property {(file: string) => string | undefined} read The text of a test, or undefined if it does not exist.
 * @property {readonly string[]} limitTests The files all of whose tests must be named by a page.
 * @property {string} month Of today, such as 2026-11.
 * @property {Readonly<Record<string, { result: string, commit: string, date: string }>>} [results] The last recorded result of each named test.
 */

const MARK = /<!--\s*(limit|promise):\s*([\s\S]*?)\s*-->/g;
const TEST = /^(\S+) "(.+)"$/;
const UNTIL = /^until (\d{4}-(?:0[1-9]|1[0-2])) +(\S+ +\S+ +\S.*)$/;
/** The number of months for which a date may keep a sentence without a look at it. */
const MONTHS = 12;

/** Sentences about something that does not work, in any page. */
const LIMITATION = new RegExp(
  [
    String.raw`\bnot (?:yet |currently |directly )?(?:supported|implemented|available|possible)\b`,
    String.raw`\bunsupported\b`,
    String.raw`\bnot yet\b`,
    // Neither "has not sent it yet", which is about a moment and not about the library, nor "Do not answer yet".
    String.raw`(?<=[\w)\]"|] )(?:(?:do|does|can) not|cannot)\b[^.!?|,:;]{0,60}\byet\b`,
    String.raw`\b(?:is|are) not (?:tested|measured|published|released|stable|documented|finished|complete)\b[^.!?|]{0,60}\byet\b`,
    String.raw`\b(?:has|have|is|are|lacks?) (?:no|none)\b[^.!?|]{0,60}\byet\b`,
    String.raw`\b(?:no|not|none)\b[^.!?|]{0,60}\b(?:for now|so far|at the moment|at present)\b`,
    String.raw`\b(?:is|are|were) planned\b|\bcoming soon\b`,
    String.raw`\bno equivalent\b|\bis not offered\b`,
    String.raw`\bfullmcp (?:cannot|lacks|has no|does not (?:support|implement|offer|have|bundle|provide))\b`,
  ].join('|'),
  'i',
);
/** Headings of sections in which everything is about a limitation. */
const LIMITED = /\bnot (?:yet )?(?:supported|implemented|tested|available)\b|\bnot yet\b|\blimitations?\b/i;
/** A cell that says no. */
const NO = /^(?:[-–—]|no|none|not supported)(?=$|[\s.,;:¹²³(])/i;

/** Sections in which each entry is about a limitation. */
const LIMITING = [
  { page: /^docs\/rough-edges\.md$/, section: /./, all: true },
  { page: /^docs\/comparison\.md$/, section: /^Where the others are better$/ },
  { page: /^docs\/migrate-[^/]*\.md$/, section: /^What you lose$/ },
];
const COMPARISON = 'docs/comparison.md';
/** Sections in which each item of a list is a promise. */
const PROMISING = [
  { page: 'README.md', section: 'Why fullmcp' },
  { page: 'README.md', section: 'Secure by default' },
  { page: 'SECURITY.md', section: 'Threats that the defaults cover' },
  { page: 'docs/scale.md', section: 'When a process dies' },
];

/**
 * The failures of all pages, and the marks, for the page that lists them.
 * @param {Project} project
 */
export function checkPromises(project) {
  /** @type {string[]} */
  const failures = [];
  /** @type {{ page: string, block: Block, mark: Mark }[]} */
  const found = [];
  const names = namesIn(project.read);
  for (const [page, text] of project.pages) {
    for (const block of blocksOf(text)) {
      failures.push(...missing(page, block));
      for (const mark of block.marks) found.push({ page, block, mark });
    }
    for (const mark of marksOf(text)) {
      const reason = wrongWith(mark, project, names);
      if (reason !== undefined) failures.push(`${page}:${mark.line} ${reason}`);
    }
  }
  failures.push(...unnamed(project, names));
  return { failures, found };
}

/** The comments of a page, also those in places where they are not needed. @param {string} text @returns {Mark[]} */
export function marksOf(text) {
  return proseLines(text).flatMap(({ line, text }) => readMarks(text, line));
}

/**
 * Why a block is not checked although it must be.
 * @param {string} page
 * @param {Block} block
 * @returns {string[]}
 */
function missing(page, block) {
  const place = `${page}:${block.line}`;
  const limits = block.marks.filter(({ kind }) => kind === 'limit').length;
  const ofTable = block.tableMarks.filter(({ kind }) => kind === 'limit').length;
  const start = block.text.slice(0, 60).replaceAll('\n', ' ');
  const cure =
    'Name beside it what keeps it true: <!-- limit: test/….test.ts "name of a test" -->, or until YYYY-MM and a reason.';
  if (page === COMPARISON && block.kind === 'row') return comparisonFailures(place, block, limits, ofTable);
  if (limits + ofTable === 0) {
    const isListed =
      LIMITED.test(block.section) ||
      LIMITING.some(
        (each) =>
          each.page.test(page) && each.section.test(block.section) && (each.all || block.kind === 'item'),
      );
    if (isListed && block.kind !== 'row')
      return [`${place} is a limitation without a comment ("${start}…"). ${cure}`];
    const words = LIMITATION.exec(proseOf(block.text))?.[0];
    if (words !== undefined) return [`${place} says "${words}" without a comment. ${cure}`];
  }
  const mustPromise = PROMISING.some((each) => each.page === page && each.section === block.section);
  if (mustPromise && block.kind === 'item' && !block.marks.some(({ kind }) => kind === 'promise')) {
    return [
      `${place} is a promise without a comment ("${start}…"). Name its test: <!-- promise: test/….test.ts "name" -->.`,
    ];
  }
  return [];
}

/**
 * A dash of fullmcp needs a comment in its row; those of the others may have one above their table, with the date when they were looked up.
 * @param {string} place @param {Block} block @param {number} limits @param {number} ofTable
 */
function comparisonFailures(place, { cells, head }, limits, ofTable) {
  const ours = head.indexOf('fullmcp');
  // The tables of figures have a row for each library, not a column.
  if (ours < 0) return [];
  const isNo = (/** @type {string} */ cell) => NO.test(proseOf(cell).trim());
  if (isNo(cells[ours] ?? '') && limits === 0)
    return [
      `${place} has "${cells[ours]}" for fullmcp without a comment in its row. Name the test that keeps it true.`,
    ];
  const others = cells.filter((cell, i) => i > 0 && i !== ours && isNo(cell));
  if (others.length > 0 && limits + ofTable === 0)
    return [
      `${place} has "${others[0]}" for another library without a date. Write <!-- limit: until YYYY-MM … --> above the table.`,
    ];
  return [];
}

/**
 * @param {Mark} mark
 * @param {Project} project
 * @param {(file: string) => readonly Found[] | undefined} names
 * @returns {string | undefined}
 */
function wrongWith({ kind, file, name, until, wrong }, { month, results = {} }, names) {
  if (wrong !== undefined) return wrong;
  if (until !== undefined) {
    if (kind === 'promise') return 'keeps a promise with a date. Only a test can keep a promise.';
    if (until < month)
      return `was to be looked at by ${until}, which is over. See whether it is still true, and set another date.`;
    if (until > later(month, MONTHS))
      return `sets a date more than ${MONTHS} months ahead: ${until}. Set an earlier one.`;
    return undefined;
  }
  const tests = names(file ?? '');
  if (tests === undefined)
    return `names ${file}, which does not exist. Name another test, or correct the sentence.`;
  const matching = tests.filter((test) => test.name === name);
  if (matching.length === 0)
    return `names the test "${name}", which ${file} does not have. ${closest(name ?? '', tests)}`;
  if (matching.some(({ isOff }) => isOff))
    return `names the test "${name}" of ${file}, which is never run. Run it, or name another.`;
  const last = Object.hasOwn(results, keyOf(file ?? '', name ?? ''))
    ? results[keyOf(file ?? '', name ?? '')]
    : undefined;
  if (last !== undefined && last.result !== 'passed')
    return kind === 'limit'
      ? `names the test "${name}", which ${last.result} at ${last.commit}. If the feature has arrived, remove the sentence and the test.`
      : `names the test "${name}", which ${last.result} at ${last.commit}. The promise is broken.`;
  return undefined;
}

/** The key of a test's result in records/promises.json. @param {string} file @param {string} name */
export function keyOf(file, name) {
  return `${file} > ${name}`;
}

/** Whether a test that ran has this name, in which values of a table and of a template may be open. @param {string} name */
export function matcherOf(name) {
  const parts = name
    .split(/%[sdifjoO#]|\$[\w.]+|…/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  // Groups that a helper makes are not in the name.
  const pattern = new RegExp(`^(?:.* > )?${parts.join('.*')}$`, 's');
  return (/** @type {string} */ other) => pattern.test(other);
}

/** @param {Project} project @param {(file: string) => readonly Found[] | undefined} names */
function unnamed({ pages, limitTests }, names) {
  const all = new Set(
    [...pages.values()].flatMap((text) => marksOf(text).map(({ file, name }) => `${file} > ${name}`)),
  );
  return limitTests.flatMap((file) =>
    (names(file) ?? [])
      .filter(({ name }) => !all.has(keyOf(file, name)))
      .map(
        ({ name }) =>
          `${file} tests a limitation that no page names: "${name}". Name it in a page, or remove it.`,
      ),
  );
}

/**
 * The paragraphs, items and rows of a page, without its code.
 * @param {string} text
 * @returns {Block[]}
 */
export function blocksOf(text) {
  /** @type {Block[]} */
  const blocks = [];
  let section = '';
  /** @type {{ kind: Block['kind'], lines: { line: number, text: string }[] } | undefined} */
  let open;
  /** @type {{ head: string[], marks: Mark[] } | undefined} */
  let table;
  /** @type {Mark[]} */
  let above = [];
  const close = () => {
    const first = open?.lines[0];
    if (open !== undefined && first !== undefined) {
      const joined = open.lines.map((line) => line.text).join('\n');
      const marks = open.lines.flatMap((line) => readMarks(line.text, line.line));
      const prose = joined.replace(/<!--[\s\S]*?-->/g, '').trim();
      if (prose === '') above = marks;
      else
        blocks.push({
          kind: open.kind,
          text: prose,
          line: first.line,
          section,
          marks,
          cells: open.kind === 'row' ? cellsOf(prose) : [],
          head: table?.head ?? [],
          tableMarks: table?.marks ?? [],
        });
      if (prose !== '') above = [];
    }
    open = undefined;
  };
  for (const { line, text: source } of proseLines(text)) {
    const heading = /^(#{1,6}) (.*)$/.exec(source);
    if (heading !== null || source.trim() === '') {
      close();
      table = undefined;
      above = [];
      if (heading !== null) section = heading[1] === '#' ? '' : (heading[2] ?? '').trim();
    } else if (source.startsWith('|')) {
      close();
      if (table === undefined) table = { head: cellsOf(source), marks: above };
      else if (!/^\|[\s|:-]+$/.test(source)) {
        open = { kind: 'row', lines: [{ line, text: source }] };
        close();
      }
    } else {
      const isItem = /^\s*(?:[-*]|\d{1,2}\.) /.test(source);
      if (isItem || table !== undefined) close();
      table = undefined;
      open ??= { kind: isItem ? 'item' : 'paragraph', lines: [] };
      open.lines.push({ line, text: source });
      // A comment on a line of its own above a table belongs to the table.
      if (open.lines.length === 1 && /^<!--.*-->$/.test(source.trim())) close();
    }
  }
  close();
  return blocks;
}

/** @param {string} row */
function cellsOf(row) {
  return row
    .replace(/<!--.*?-->/g, '')
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** The lines that are not inside a block of code. @param {string} text */
function proseLines(text) {
  /** @type {{ line: number, text: string }[]} */
  const lines = [];
  let fence = '';
  text.split('\n').forEach((source, i) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(source)?.[1] ?? '';
    if (fence !== '') {
      if (mark.startsWith(fence)) fence = '';
    } else if (mark !== '') {
      fence = mark;
      lines.push({ line: i + 1, text: '' });
    } else lines.push({ line: i + 1, text: source });
  });
  return lines;
}

/** The prose without code, comments and addresses of links. @param {string} text */
function proseOf(text) {
  return text
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/`[^`]*`/g, 'x')
    .replace(/\]\([^)]*\)/g, ']')
    .replaceAll('\n', ' ');
}

/** @param {string} text @param {number} line @returns {Mark[]} */
function readMarks(text, line) {
  return [...text.matchAll(MARK)].map(([, word, body = '']) => {
    const kind = word === 'promise' ? 'promise' : 'limit';
    const until = UNTIL.exec(body);
    if (until !== null) return { kind, line, until: until[1], why: until[2] };
    const test = TEST.exec(body);
    if (test !== null) return { kind, line, file: test[1], name: test[2] };
    const wrong = `has a comment that cannot be read: "${body}". Write a file and the name of a test in quotes, or until YYYY-MM and a reason of three words or more.`;
    return { kind, line, wrong };
  });
}

/** @param {string} month @param {number} months */
function later(month, months) {
  const [year = 0, of = 1] = month.split('-').map(Number);
  const count = year * 12 + of - 1 + months;
  return `${Math.floor(count / 12)}-${String((count % 12) + 1).padStart(2, '0')}`;
}

/**
 * @typedef {object} Found A test in a file.
 * @property {string} name With its groups before it; `…` stands for values in a template.
 * @property {boolean} isOff Whether the test, or a group around it, is skipped, expected to fail, or not written yet.
 */

/** Reads each file once. @param {(file: string) => string | undefined} read */
function namesIn(read) {
  /** @type {Map<string, readonly Found[] | undefined>} */
  const known = new Map();
  return (/** @type {string} */ file) => {
    if (!known.has(file)) {
      const text = read(file);
      known.set(file, text === undefined ? undefined : findersOf(file)(text));
    }
    return known.get(file);
  };
}

/** How the names in a file are found: a promise may also be kept by a check, or by the record of a harness. @param {string} file */
function findersOf(file) {
  if (file === 'scripts/check.js') return stepsIn;
  return file.startsWith('records/') ? figuresIn : testsIn;
}

/** The steps of scripts/check.js. @param {string} source @returns {Found[]} */
function stepsIn(source) {
  return [...source.matchAll(/\bname: '([^']+)'/g)].map(([, name = '']) => ({ name, isOff: false }));
}

/** The figures of a record, as "server 2026-07-28 passed 53". @param {string} source @returns {Found[]} */
function figuresIn(source) {
  /** @type {Found[]} */
  const found = [];
  const visit = (/** @type {unknown} */ value, /** @type {string[]} */ path) => {
    if (typeof value !== 'object' || value === null)
      found.push({ name: [...path, value].join(' '), isOff: false });
    else for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
  };
  visit(JSON.parse(source).figures, []);
  return found;
}

/**
 * The tests that a file defines: calls of `test`, `it` and `describe`, also of their tables.
 * @param {string} source
 * @returns {Found[]}
 */
export function testsIn(source) {
  const tokens = tokenize(source);
  /** @type {Found[]} */
  const tests = [];
  /** @type {{ name: string, isOff: boolean, depth: number }[]} */
  const groups = [];
  let depth = 0;
  for (let i = 0; i < tokens.length; i++) {
    const { kind, text } = tokens[i] ?? { kind: 'punct', text: '' };
    if (kind === 'punct' && '([{'.includes(text)) depth++;
    if (kind === 'punct' && ')]}'.includes(text)) {
      depth--;
      while ((groups.at(-1)?.depth ?? -1) > depth) groups.pop();
    }
    if (kind !== 'word' || !/^(?:test|it|describe)$/.test(text) || tokens[i - 1]?.text === '.') continue;
    const call = callAt(tokens, i);
    if (call === undefined) continue;
    const outer = groups.map(({ name }) => name);
    const isOff = call.isOff || groups.some((group) => group.isOff);
    if (text === 'describe') groups.push({ name: call.name, isOff, depth: depth + 1 });
    else tests.push({ name: [...outer, call.name].join(' > '), isOff });
    // Go on at the parenthesis before the name, so that the depth counts it.
    i = call.at - 1;
  }
  return tests;
}

/**
 * The name in a call such as `test.each(…)('name', …)`, and where its parenthesis is.
 * @param {readonly import('./scan.js').Token[]} tokens
 * @param {number} start
 */
function callAt(tokens, start) {
  let at = start + 1;
  let isOff = false;
  while (tokens[at]?.text === '.') {
    isOff ||= /^(?:skip|todo|fails)$/.test(tokens[at + 1]?.text ?? '');
    at += 2;
  }
  if (tokens[at]?.text === '<') at = afterTypes(tokens, at);
  if (tokens[at]?.text !== '(') return undefined;
  if (!isName(tokens[at + 1])) {
    // A table, or a condition: its name is in the call after it.
    let depth = 0;
    do {
      if ('([{'.includes(tokens[at]?.text ?? '') && tokens[at]?.kind === 'punct') depth++;
      if (')]}'.includes(tokens[at]?.text ?? '') && tokens[at]?.kind === 'punct') depth--;
      at++;
    } while (depth > 0 && at < tokens.length);
    if (tokens[at]?.text !== '(' || !isName(tokens[at + 1])) return undefined;
  }
  return { name: nameAt(tokens, at + 1), at, isOff };
}

/** The place after the type arguments of a call. @param {readonly import('./scan.js').Token[]} tokens @param {number} at */
function afterTypes(tokens, at) {
  let depth = 0;
  do {
    if (tokens[at]?.text === '<') depth++;
    if (tokens[at]?.text === '>') depth--;
    at++;
  } while (depth > 0 && at < tokens.length);
  return at;
}

/** @param {import('./scan.js').Token | undefined} token */
function isName(token) {
  return token?.kind === 'string' || token?.kind === 'template';
}

/** A template's values are `…`. @param {readonly import('./scan.js').Token[]} tokens @param {number} at */
function nameAt(tokens, at) {
  const first = tokens[at];
  let name = first?.text ?? '';
  for (let i = at + 1, depth = 0; first?.kind === 'template' && i < tokens.length; i++) {
    const { kind, text } = tokens[i] ?? { kind: 'punct', text: '' };
    if (depth === 0 && (text === ',' || text === ')') && kind === 'punct') break;
    if (kind === 'punct' && '([{'.includes(text)) depth++;
    if (kind === 'punct' && ')]}'.includes(text)) depth--;
    if (kind === 'template' && depth === 0) name += `…${text}`;
  }
  return name.replaceAll("\\'", "'").replaceAll('\\`', '`');
}

/** @param {string} name @param {readonly Found[]} tests */
function closest(name, tests) {
  const words = new Set(name.toLowerCase().split(/\W+/));
  const shared = (/** @type {string} */ other) =>
    other
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => words.has(word)).length;
  const best = [...tests].sort((one, other) => shared(other.name) - shared(one.name))[0];
  return best === undefined ? 'It has no tests.' : `Was it renamed? The closest is "${best.name}".`;
}
