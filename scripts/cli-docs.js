// Writes docs/cli/<command>.md and the tables of docs/cli.md from the definitions of the commands. --check fails if the pages are not
// what this script writes. Needs a build.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { conclude, filesUnder, root } from './files.js';

const PAGE = 'docs/cli.md';
const FOLDER = 'docs/cli';
const GENERATED =
  '<!-- Written by scripts/cli-docs.js from the definition of the command. Change that, and run it again. -->';

/** @typedef {{ type: string, short?: string, multiple?: boolean, value?: string, number?: string, choices?: readonly string[], help: string, now?: string }} Option */
/** @typedef {{ usage: string, details?: string, options: Record<string, Option>, examples: readonly { line: string, says: string }[], json: string }} Command */
/** @typedef {{ name: string, summary: string, load: () => Promise<Command> }} Summary */

process.chdir(root);
const modules = new URL('../build/modules/cli/', import.meta.url);
/** @type {{ commandGroups: Record<string, readonly Summary[]> }} */
const { commandGroups } = await import(new URL('commands.js', modules).href);
/** @type {{ COMMON: Record<string, Option> }} */
const { COMMON } = await import(new URL('command/parse.js', modules).href);
/** @type {{ TARGET_OPTIONS: Record<string, Option> }} */
const { TARGET_OPTIONS } = await import(new URL('target/options.js', modules).href);

/** @type {Map<string, string>} */
const written = new Map();
for (const summary of Object.values(commandGroups).flat())
  written.set(`${FOLDER}/${fileOf(summary)}`, printPage(summary, await summary.load()));
written.set(PAGE, withParts(readFileSync(PAGE, 'utf8')));
if (process.argv.includes('--check')) checkPages();
else writePages();

/** @param {Summary} summary */
function fileOf({ name }) {
  return `${name.replaceAll(' ', '-')}.md`;
}

/** @param {Summary} summary @param {Command} command */
function printPage({ name, summary }, { usage, details, options, examples, json }) {
  const current = Object.entries(options).filter(([, { now }]) => now === undefined);
  const own = current.filter(([key]) => options[key] !== TARGET_OPTIONS[key]);
  const hasTarget = Object.keys(TARGET_OPTIONS).some((key) => options[key] === TARGET_OPTIONS[key]);
  const shared = `Besides these: the [options of every command](../cli.md#options)${hasTarget ? ' and [those of a target](../cli.md#targets)' : ''}.`;
  const [, type = json, meaning] = /^(\{.*\})(?:[;,] (.+))?$/s.exec(json) ?? [];
  const blocks = [
    `# fullmcp ${name}`,
    GENERATED,
    `${capital(summary)}.`,
    fence(`fullmcp ${name} ${usage}`.trim(), 'text'),
    ...(details === undefined ? [] : [plain(details)]),
    '## Examples',
    ...examples.flatMap(({ line, says }) => [says, fence(line, 'bash')]),
    '## Options',
    ...(own.length > 0
      ? [optionTable(Object.fromEntries(own)), shared]
      : [shared.replace('Besides these: the', 'The')]),
    '## JSON',
    'With `--json`, one object is printed:',
    fence(type, 'text'),
    ...(meaning === undefined ? [] : [`${capital(plain(meaning).replace(/^ok /, '`ok` '))}.`]),
    'A failure is `{ ok: false, error: { kind, message } }`. The [exit codes](../cli.md#exit-codes) are those of all commands.',
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** The page with the commands and the options between their marks. @param {string} page */
function withParts(page) {
  const commands = Object.entries(commandGroups)
    .filter(([, group]) => group.length > 0)
    .map(([title, group]) => {
      const rows = group.map((one) => `| [\`${one.name}\`](cli/${fileOf(one)}) | ${one.summary} |`);
      return [`### ${title}`, '', '| command | what it does |', '|---|---|', ...rows].join('\n');
    });
  const parts = {
    commands: commands.join('\n\n'),
    'target options': optionTable(TARGET_OPTIONS),
    'common options': optionTable(COMMON),
  };
  let whole = page;
  for (const [name, text] of Object.entries(parts)) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [from, to] = [whole.indexOf(start), whole.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${PAGE} lacks the marks ${start} and ${end}.`);
    whole = `${whole.slice(0, from)}${start}\n\n${text}\n\n${whole.slice(to)}`;
  }
  return whole;
}

/** @param {Record<string, Option>} options */
function optionTable(options) {
  const rows = Object.entries(options).map(
    ([name, { short, type, value, number, choices, help, multiple }]) => {
      const optional = number ? ` [${number}]` : '';
      const argument = type === 'string' ? ` <${value ?? choices?.join('|') ?? 'value'}>` : optional;
      const often = multiple && !help.includes('several times') ? '; can be given several times' : '';
      return `| \`${cell(`${short ? `-${short}, ` : ''}--${name}${argument}`)}\` | ${cell(plain(help))}${often} |`;
    },
  );
  return ['| option | meaning |', '|---|---|', ...rows].join('\n');
}

/** Text outside of code, in which < would begin HTML. @param {string} text */
function plain(text) {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 0 ? part.replaceAll('<', '\\<').replaceAll('*', '\\*') : part))
    .join('`');
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** @param {string} code @param {string} language */
function fence(code, language) {
  return `\`\`\`${language}\n${code}\n\`\`\``;
}

/** @param {string} text */
function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function writePages() {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of filesUnder(FOLDER)) if (!written.has(file)) rmSync(file);
  for (const [file, text] of written) writeFileSync(file, text);
  console.log(`${written.size} pages`);
}

function checkPages() {
  const old = [...written].filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  const extra = filesUnder(FOLDER).filter((file) => !written.has(file));
  conclude(
    [
      ...old.map(([file]) => `${file} is not what the definitions say. Run: node scripts/cli-docs.js`),
      ...extra.map((file) => `${file} describes no command. Run: node scripts/cli-docs.js`),
    ],
    `${written.size} pages describe the commands`,
  );
}
