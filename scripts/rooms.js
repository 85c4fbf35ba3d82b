// The map of the rooms in docs/rooms.md: what each room of src is for, how large it is, and where its tests are.
// node scripts/rooms.js --write        writes the map
// node scripts/rooms.js --check        fails if a room is missing, or if a size has changed by more than a fifth
// node scripts/rooms.js server/asking  prints what one room uses, who uses it and through which files, and its tests
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { conclude, filesUnder, root } from './files.js';
import { LAYERS } from './layers.js';
import { importsOf, tokenize } from './scan.js';

const PAGE = 'docs/rooms.md';
const MARKED = /<!-- rooms -->\n[\s\S]*?<!-- \/rooms -->/;
/** A size in the map may be off by this share, so that not every change has to write the page. */
const TOLERANCE = 0.2;

/** Folders beside src, with their tests. */
const OUTSIDE = [
  { folder: 'inspector', what: 'the page of the inspector (Preact)', tests: ['test/inspector/page'] },
  { folder: 'scripts', what: 'the build and the checks', tests: ['test/unit/scripts'] },
  { folder: 'examples', what: 'programs of the pages, each compiled and run', tests: ['test/examples'] },
  { folder: 'bench', what: 'measurements, beside the official SDK and a bare baseline', tests: [] },
];

/** @typedef {{ room: string, what: string, files: number, lines: number, tests: number, also: readonly string[] }} Room */

process.chdir(root);
const [argument] = process.argv.slice(2);
if (argument === '--write') writeFileSync(PAGE, withMap(readFileSync(PAGE, 'utf8'), printMap(rooms())));
else if (argument === '--check') check();
else if (argument !== undefined && !argument.startsWith('-')) printRoom(argument.replace(/^src\/|\/$/g, ''));
else conclude(['Say --write, --check, or the name of a room, such as server/asking.'], '');

function check() {
  const page = readFileSync(PAGE, 'utf8');
  const failures = mapFailures(page.match(MARKED)?.[0] ?? '', rooms());
  conclude(failures, `${PAGE} has all rooms, and their sizes within a fifth`);
}

/** @returns {Room[]} */
function rooms() {
  const inside = Object.entries(LAYERS).flatMap(([layer, { rooms: inner = { '.': '' }, what, tests = [] }]) =>
    Object.entries(inner).map(([name, purpose]) => {
      const folder = name === '.' ? layer : `${layer}/${name}`;
      const of = filesOf(`src/${folder}`, (file) => file.endsWith('.ts'));
      const own = filesOf(`test/unit/${folder}`, (file) => file.endsWith('.test.ts'));
      return {
        room: folder,
        what: purpose || what,
        ...sizeOf(of),
        tests: own.length,
        also: name === '.' ? tests : [],
      };
    }),
  );
  const outside = OUTSIDE.map(({ folder, what, tests }) => ({
    room: `${folder}/`,
    what,
    ...sizeOf(filesUnder(folder, { into: isSource }).filter((file) => /\.(?:[jt]sx?|css)$/.test(file))),
    tests: tests.flatMap((one) => filesUnder(one)).filter((file) => file.endsWith('.test.ts')).length,
    also: tests,
  }));
  return [...inside, ...outside];
}

/** The files of a folder itself. @param {string} folder @param {(file: string) => boolean} wanted */
function filesOf(folder, wanted) {
  return filesUnder(folder, { into: () => false }).filter(wanted);
}

/** Whether a folder has what people write, and not what is installed or built. @param {string} name */
function isSource(name) {
  return name !== 'node_modules' && name !== 'dist' && !name.startsWith('.');
}

/** @param {readonly string[]} files */
function sizeOf(files) {
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  return { files: files.length, lines };
}

/** @param {readonly Room[]} all */
function printMap(all) {
  const rows = all.map(
    ({ room, what, files, lines, tests, also }) =>
      `| \`${room}\` | ${what} | ${files} | ${lines} | ${[tests, ...also.map((one) => `\`${one}\``)].join(', ')} |`,
  );
  return ['| room | what it is for | files | lines | test files |', '|---|---|--:|--:|---|', ...rows].join(
    '\n',
  );
}

/** @param {string} page @param {string} map */
function withMap(page, map) {
  return page.replace(MARKED, () => `<!-- rooms -->\n${map}\n<!-- /rooms -->`);
}

/** @param {string} printed @param {readonly Room[]} all */
function mapFailures(printed, all) {
  const rowsOf = (/** @type {string} */ map) =>
    map
      .split('\n')
      .slice(3)
      .filter((row) => row.startsWith('| '))
      .map((row) => row.slice(2, -2).split(' | '));
  const before = new Map(rowsOf(printed).map((row) => [row[0], row]));
  const now = rowsOf(`<!-- rooms -->\n${printMap(all)}`);
  const advice = 'Run: node scripts/rooms.js --write';
  return [
    ...now
      .filter((row) => !isNear(before.get(row[0]), row))
      .map((row) => `${PAGE} is out of date for ${row[0]}. ${advice}`),
    ...[...before.keys()]
      .filter((name) => !now.some((row) => row[0] === name))
      .map((name) => `${PAGE} has ${name}, which is not a room. ${advice}`),
    ...missingTests().map(
      (folder) => `scripts/layers.js or scripts/rooms.js names ${folder}, which is not a folder.`,
    ),
  ];
}

/** @param {readonly string[] | undefined} before @param {readonly string[]} now */
function isNear(before, now) {
  if (before === undefined || before[1] !== now[1]) return false;
  return [2, 3, 4].every((at) => {
    const [was, is] = [Number.parseInt(before[at] ?? '', 10), Number.parseInt(now[at] ?? '', 10)];
    return Math.abs(was - is) <= Math.max(3, is * TOLERANCE);
  });
}

function missingTests() {
  const named = [...Object.values(LAYERS), ...OUTSIDE].flatMap(({ tests = [] }) => tests);
  return named.filter((folder) => !existsSync(folder));
}

/** @param {string} name */
function printRoom(name) {
  const room = rooms().find((one) => one.room === name);
  if (room === undefined) return conclude([`There is no room ${name}. docs/rooms.md has all of them.`], '');
  const edges = filesUnder('src').flatMap((file) => importsIn(file));
  const into = edges.filter(({ from, to }) => roomOf(to) === name && roomOf(from) !== name);
  const doors = new Map(
    into.map(({ to }) => [to, new Set(into.filter((one) => one.to === to).map(({ from }) => from))]),
  );
  console.log(`${name}: ${room.what}. ${room.files} files, ${room.lines} lines.\n`);
  console.log('Others use it through:');
  for (const [door, users] of [...doors].sort((a, b) => b[1].size - a[1].size))
    console.log(
      `  ${posix.basename(door)}, from ${users.size} ${users.size === 1 ? 'file' : 'files'} in ${list([...users].map(roomOf))}`,
    );
  console.log(
    `\nIt uses: ${list(
      edges
        .filter(({ from }) => roomOf(from) === name)
        .map(({ to }) => roomOf(to))
        .filter((one) => one !== name),
    )}`,
  );
  const layer = LAYERS[name.split('/')[0] ?? ''];
  console.log(`\nTests: npx vitest run test/unit/${name} ${(layer?.tests ?? []).join(' ')}`);
}

/** @param {readonly string[]} names */
function list(names) {
  return [...new Set(names)].sort().join(', ') || 'nothing';
}

/** @param {string} file @returns {{ from: string, to: string }[]} */
function importsIn(file) {
  if (!file.endsWith('.ts')) return [];
  return importsOf(tokenize(readFileSync(file, 'utf8')))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => ({
      from: file,
      to: posix.join(posix.dirname(file), specifier).replace(/\.js$/, '.ts'),
    }));
}

/** The room of a file of src; the entries are in the room `.`. @param {string} file */
function roomOf(file) {
  return posix.relative('src', posix.dirname(file)) || '.';
}
