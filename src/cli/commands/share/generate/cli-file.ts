// A command-line program with a subcommand for each tool. Its code is always the same; the tools are data in it.

import type { Manifest } from '../../../../tooling/manifest/manifest.js';
import { programCommands } from './cli-data.js';
import { literal } from './source-text.js';
import { headerText } from './types-file.js';

/** The program, for Node. */
export function cliFile(manifest: Manifest, target: unknown): string {
  return [
    '#!/usr/bin/env node',
    `// ${headerText(manifest, 'cli')}`,
    '',
    "import { parseArgs } from 'node:util';",
    "import { connect } from 'fullmcp/client';",
    '',
    `const SERVER = ${literal(String(manifest.server['name']).slice(0, 200))};`,
    `const TARGET = ${target === undefined ? 'undefined' : parsed(target)};`,
    `const COMMANDS = ${parsed(programCommands(manifest))};`,
    PROGRAM,
  ].join('\n');
}

// A literal would give an object whose field is called `__proto__` another prototype.
function parsed(value: unknown): string {
  return `JSON.parse(${literal(JSON.stringify(value))})`;
}

const PROGRAM = String.raw`
const COMMON = {
  args: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  target: { type: 'string' },
  token: { type: 'string' },
};

process.exitCode = await main(process.argv.slice(2)).catch((error) => fail(error.message, error.exit ?? 4));

async function main([word, ...rest]) {
  if (word === undefined || ['help', '--help', '-h'].includes(word)) return print(overview());
  const command = COMMANDS.find((one) => one.command === word);
  if (!command) throw usage('There is no command ' + JSON.stringify(word) + '. Try: help');
  const values = read(command, rest);
  if (values.help) return print(help(command));
  const args = argumentsOf(command, values);
  const target = values.target ?? process.env.MCP_TARGET ?? TARGET;
  if (target === undefined) throw usage('Say where the server is: --target, or the variable MCP_TARGET.');
  const token = values.token ?? process.env.MCP_TOKEN;
  const client = await connect(target, { reconnect: false, ...(token && { auth: token }) });
  try {
    const result = await client.callTool(command.tool, args);
    if (values.json) print(JSON.stringify({ ok: !result.isError, text: result.text, data: result.data, content: result.content }, undefined, 2));
    else if (result.isError) return fail(result.text, 1);
    else print(result.data === undefined || typeof result.data === 'string' ? result.text : JSON.stringify(result.data, undefined, 2));
    return result.isError ? 1 : 0;
  } finally {
    await client.close();
  }
}

function read(command, words) {
  const own = command.options.flatMap(({ flag, type, multiple }) =>
    type === 'boolean'
      ? [[flag, { type: 'boolean', multiple }], ['no-' + flag, { type: 'boolean' }]]
      : [[flag, { type: 'string', multiple }]],
  );
  try {
    return parseArgs({ args: words, options: { ...Object.fromEntries(own), ...COMMON } }).values;
  } catch (error) {
    throw usage(error.message + ' Try: ' + command.command + ' --help');
  }
}

function argumentsOf(command, values) {
  const args = new Map(Object.entries(values.args === undefined ? {} : object(values.args)));
  for (const { flag, name, type, multiple, required } of command.options) {
    const value = values['no-' + flag] === true ? false : values[flag];
    if (value !== undefined) args.set(name, multiple ? value.map((one) => typed(one, type, flag)) : typed(value, type, flag));
    else if (required && !args.has(name)) throw usage('--' + flag + ' is missing. Try: ' + command.command + ' --help');
  }
  return Object.fromEntries(args);
}

function typed(value, type, flag) {
  if (type === 'string' || type === 'boolean') return value;
  try {
    const read = JSON.parse(value);
    if (type === 'json' || typeof read === 'number') return read;
  } catch {}
  throw usage('--' + flag + ' must be ' + (type === 'number' ? 'a number' : 'JSON') + ', not ' + JSON.stringify(value) + '.');
}

function object(text) {
  try {
    const value = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {}
  throw usage('--args must be a JSON object.');
}

function overview() {
  const lines = COMMANDS.map(({ command, about }) => '  ' + command.padEnd(24) + ' ' + short(about));
  return [SERVER, '', ...lines, '', 'Options of every command: --args <json>, --json, --target <url>, --token <token>, --help'].join('\n');
}

// The end of a sentence that is cut must not look like its end.
function short(text) {
  return text.length <= 90 ? text : text.slice(0, 89).replace(/\s+\S*$/, '') + '…';
}

function help({ command, about, options }) {
  const lines = options.map(({ flag, type, multiple, required, about: what }) => {
    const left = '--' + flag + (type === 'boolean' ? '' : ' <' + type + '>') + (multiple ? ' …' : '');
    return '  ' + left.padEnd(28) + ' ' + what + (required ? ' (required)' : '');
  });
  return [command, '', about, '', ...lines, '  --args <json>                all arguments as one JSON object'].join('\n');
}

// The text of a server must not control the terminal.
function clean(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, (character) =>
    '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0'),
  );
}

function print(text) {
  process.stdout.write(clean(text) + '\n');
  return 0;
}

function fail(message, exit) {
  process.stderr.write(clean(message) + '\n');
  return exit;
}

function usage(message) {
  return Object.assign(new Error(message), { exit: 2 });
}
`;
