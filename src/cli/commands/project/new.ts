import { basename, resolve } from 'node:path';
import process from 'node:process';
import { fullmcp } from '../../../client/model/options.js';
import { cleanLine, shellWord } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { type Person, PersonLines } from '../../terminal/person.js';
import { projectFiles, type TemplateName, templates } from './templates/templates.js';
import { writeProject } from './templates/write-project.js';

const TEMPLATES = Object.keys(templates) as readonly TemplateName[];
const TRANSPORTS = ['stdio', 'http'] as const;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const NAME_HINT =
  'A name has at most 64 of a-z, 0-9, "-" and "_", begins with a letter or a digit, and is not that of a package that the project needs.';
/** npm does not install a package into a project of the same name. */
const TAKEN = ['fullmcp', 'jiti', 'zod', 'typescript', 'node_modules'];

/** `fullmcp new`. */
export const newProject: Command = {
  usage: '[folder]',
  details:
    'Asks for the name, the template and the transport, unless options say them. The project has a server in TypeScript, its test, a\nDockerfile, a README and the configurations of Claude Code, Cursor and VS Code. Files that exist are never written over.',
  words: [0, 1],
  options: {
    name: { type: 'string', value: 'name', help: 'the name of the server; default: that of the folder' },
    template: {
      type: 'string',
      short: 't',
      choices: TEMPLATES,
      value: 'name',
      help: 'minimal, http-auth, gateway or openapi',
    },
    transport: { type: 'string', choices: TRANSPORTS, help: 'how `npm start` serves: stdio or http' },
    yes: { type: 'boolean', short: 'y', help: 'ask nothing, take the defaults' },
  },
  examples: [
    { line: 'fullmcp new shop', says: 'Makes a project in the folder shop, after three questions.' },
    { line: 'fullmcp new shop --template http-auth --yes', says: 'Asks nothing.' },
  ],
  json: "{ ok: true, folder: string, name: string, template: string, transport: 'stdio' | 'http', files: string[], next: string[] }",
  async run(input) {
    const [typed] = input.words;
    const { name, template, transport } = await choices(input, typed);
    const folder = typed ?? name;
    const files = projectFiles(template, { name, transport, version: fullmcp.version });
    await writeProject(resolve(folder), files);
    const next = [
      ...(resolve(folder) === process.cwd() ? [] : [`cd ${shellWord(folder)}`]),
      'npm install',
      'npm test',
      `npx fullmcp call src/server.ts ${templates[template].firstCall}`,
    ];
    const { out } = input;
    out.json({
      ok: true,
      folder: resolve(folder),
      name,
      template,
      transport,
      files: Object.keys(files),
      next,
    });
    if (out.isJson) return;
    out.note(`Made in ${cleanLine(folder, 200)}:`);
    for (const path of Object.keys(files)) out.note(`  ${path}`);
    out.note('Next:');
    out.value(next.join('\n'));
  },
};

interface Chosen {
  readonly name: string;
  readonly template: TemplateName;
  readonly transport: (typeof TRANSPORTS)[number];
}

async function choices(input: Typed, folder: string | undefined): Promise<Chosen> {
  const person = input.person();
  const lines = new PersonLines(person);
  const ask = asker(input, person, lines);
  try {
    const fallback = folder === undefined ? 'my-server' : basename(resolve(folder));
    const name = input.text('name') ?? (await ask('Name', { fallback, isRight: isName, hint: NAME_HINT }));
    if (!isName(name))
      throw usageError(`${JSON.stringify(name)} cannot be the name of a package. Use --name. ${NAME_HINT}`);
    const template =
      input.text('template') ??
      (await ask(`Template (${TEMPLATES.join(', ')})`, oneOf(TEMPLATES, 'minimal')));
    const transport =
      input.text('transport') ??
      (await ask(
        `Transport (${TRANSPORTS.join(', ')})`,
        oneOf(TRANSPORTS, template === 'http-auth' ? 'http' : 'stdio'),
      ));
    return { name, template, transport } as Chosen;
  } finally {
    lines.close();
  }
}

function oneOf(names: readonly string[], fallback: string): Asking {
  return { fallback, isRight: (text) => names.includes(text), hint: `Choose one of ${names.join(', ')}.` };
}

function isName(name: string): boolean {
  return NAME.test(name) && !TAKEN.includes(name);
}

interface Asking {
  readonly fallback: string;
  readonly isRight: (answer: string) => boolean;
  /** Said after a wrong answer. */
  readonly hint: string;
}
type Ask = (question: string, asking: Asking) => Promise<string>;

/** Asks on the terminal, again while the answer is wrong. Without a terminal, or with `--yes`, takes the defaults. */
function asker({ flag, out, signal }: Typed, person: Person, lines: PersonLines): Ask {
  if (flag('yes') || out.isJson || !person.isPresent) return async (_, { fallback }) => fallback;
  return async (question, { fallback, isRight, hint }) => {
    for (;;) {
      const answer = await lines.line(`${question} [${cleanLine(fallback)}]: `, signal);
      if (answer === undefined) throw new CommandError('interrupted', 'Stopped. Nothing was written.');
      const chosen = answer.trim() || fallback;
      if (isRight(chosen)) return chosen;
      out.note(hint);
    }
  };
}
