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
const ABOUT_TRANSPORTS: Readonly<Record<(typeof TRANSPORTS)[number], string>> = {
  stdio: 'a client on the same computer starts the server as a program',
  http: 'the server listens at an address, for many clients',
};
const ABOUT_TEMPLATES: Readonly<Record<string, string>> = Object.fromEntries(
  TEMPLATES.map((name) => [name, templates[name].summary]),
);
const MAX_NAME = 64;
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** npm does not install a package into a project of the same name. */
const TAKEN = ['fullmcp', 'jiti', 'zod', 'typescript', 'node_modules'];

/** `fullmcp new`. */
export const newProject: Command = {
  usage: '[folder]',
  details:
    'Asks for the name, the template and the transport, unless the folder or options say them. The project has a server in TypeScript,\nits test, a Dockerfile, a README, the configurations of Claude Code, Cursor and VS Code, and an AGENTS.md that sends coding agents to the documentation\nin node_modules. Files that exist are never written over.',
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
    'no-agents': { type: 'boolean', help: 'leave out AGENTS.md and CLAUDE.md' },
    evals: { type: 'boolean', help: 'add cases that show whether models understand the tools' },
    yes: { type: 'boolean', short: 'y', help: 'ask nothing, take the defaults' },
  },
  examples: [
    { line: 'fullmcp new shop', says: 'Makes a project in the folder shop, after two questions.' },
    { line: 'fullmcp new shop --template http-auth --yes', says: 'Asks nothing.' },
  ],
  json: "{ ok: true, folder: string, name: string, template: string, transport: 'stdio' | 'http', files: string[], next: string[] }",
  async run(input) {
    const [typed] = input.words;
    const { name, template, transport } = await choices(input, typed);
    const folder = typed ?? name;
    const hasAgents = !input.flag('no-agents');
    const hasEvals = input.flag('evals');
    const version = fullmcp.version;
    const files = projectFiles(template, { name, transport, version, hasAgents, hasEvals });
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
    // A folder that was typed is a name that was typed, unless no package can have it.
    const typed = input.text('name') ?? (folder !== undefined && isName(fallback) ? fallback : undefined);
    const name = typed ?? (await ask('Name', { fallback, isRight: isName, hint: nameHint }));
    if (!isName(name))
      throw usageError(
        `${JSON.stringify(name)} cannot be the name of a package. Use --name. ${nameHint(name)}`,
      );
    const template =
      input.text('template') ??
      (await ask(`Template (${TEMPLATES.join(', ')})`, oneOf(ABOUT_TEMPLATES, 'minimal')));
    const transport =
      input.text('transport') ??
      (await ask(
        `Transport (${TRANSPORTS.join(', ')})`,
        oneOf(ABOUT_TRANSPORTS, template === 'http-auth' ? 'http' : 'stdio'),
      ));
    return { name, template, transport } as Chosen;
  } finally {
    lines.close();
  }
}

function oneOf(about: Readonly<Record<string, string>>, fallback: string): Asking {
  const names = Object.keys(about);
  const hint = `Choose one of ${names.join(', ')}.`;
  return { about, fallback, isRight: (text) => names.includes(text), hint: () => hint };
}

/** Says what is wrong with a name, and which one could be meant. */
function nameHint(name: string): string {
  const shown = JSON.stringify(cleanLine(name, 80));
  if (TAKEN.includes(name)) return `The project needs ${shown} itself: choose another name.`;
  const wrong =
    name.length > MAX_NAME
      ? `${shown} has ${name.length} characters, and a name has at most ${MAX_NAME}.`
      : /^[_-]/.test(name)
        ? `${shown} does not begin with a letter or a digit.`
        : `${shown} has other characters than a-z, 0-9, "-" and "_".`;
  const close = name
    .slice(0, MAX_NAME)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[_-]+|-+$/g, '');
  return isName(close) ? `${wrong} Did you mean ${close}?` : wrong;
}

function isName(name: string): boolean {
  return NAME.test(name) && !TAKEN.includes(name);
}

interface Asking {
  /** The meaning of each choice, shown before the question. */
  readonly about?: Readonly<Record<string, string>>;
  readonly fallback: string;
  readonly isRight: (answer: string) => boolean;
  /** Said after a wrong answer. */
  readonly hint: (answer: string) => string;
}
type Ask = (question: string, asking: Asking) => Promise<string>;

/** Asks on the terminal, again while the answer is wrong. Without a terminal, or with `--yes`, takes the defaults. */
function asker({ flag, out, signal }: Typed, person: Person, lines: PersonLines): Ask {
  if (flag('yes') || out.isJson || !person.isPresent) return async (_, { fallback }) => fallback;
  return async (question, { about = {}, fallback, isRight, hint }) => {
    for (const [name, text] of Object.entries(about)) out.note(`  ${name.padEnd(10)} ${text}`);
    for (;;) {
      const answer = await lines.line(`${question} [${cleanLine(fallback)}]: `, signal);
      if (answer === undefined) throw new CommandError('interrupted', 'Stopped. Nothing was written.');
      const chosen = answer.trim() || fallback;
      if (isRight(chosen)) return chosen;
      out.note(hint(chosen));
    }
  };
}
