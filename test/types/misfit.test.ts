import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// The position and the wording of the compilers' errors when a definition does not fit the server that it is passed to.

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-misfits-'));

const noLifespan = (kind: string): string =>
  `This ${kind} needs ctx.state, but the server has no lifespan. Add lifespan: async function* () { yield … } to the options of createServer or defineWith.`;
const noUser = (kind: string): string =>
  `This ${kind} needs ctx.user, but the server has no user option. Add user: (facts) => … to the options of createServer or defineWith.`;
const otherState = (kind: string): string =>
  `This ${kind} needs a ctx.state that the lifespan of this server does not yield. Yield what the ${kind} needs, or define the ${kind} with the functions that defineWith returns for this server.`;
const otherUser = (kind: string): string =>
  `This ${kind} needs a ctx.user that the user option of this server does not return. Return what the ${kind} needs, or define the ${kind} with the functions that defineWith returns for this server.`;

const header = `
import { createServer, defineWith, prompt, resource, tool } from 'fullmcp';

const identity = { name: 'misfits', version: '1.0.0' };
const mine = defineWith<{ state: { db: string }; user: { account: string } }>();
const find = mine.tool({ run: (_input, { state, user }) => state.db + user.account });
const lifespan = async function* () { yield { db: 'x' }; };
const user = ({ state }: { readonly state: { db: string } }) => ({ account: state.db });
`;

/** Each program has one error, on the marked line. */
const misfits: readonly (readonly [title: string, source: string, sentence: string])[] = [
  [
    'a tool in a server without lifespan and user',
    `createServer({
      ...identity,
      tools: {
        fits: tool({ run: () => 1 }),
        find, // here
      },
    });`,
    noLifespan('tool'),
  ],
  [
    'a tool in a server without a lifespan, whose user option has parameters',
    `createServer({
      ...identity,
      user: ({ request }) => ({ account: String(request?.header('x-account')) }),
      tools: {
        find, // here
      },
    });`,
    noLifespan('tool'),
  ],
  [
    'a tool in a server without a user option, whose lifespan is written in place',
    `createServer({
      ...identity,
      lifespan: async function* () { yield { db: 'x' }; },
      tools: {
        find, // here
        fits: tool({ run: () => 1 }),
      },
    });`,
    noUser('tool'),
  ],
  [
    'a tool in a server with another state, whose user option has parameters',
    `createServer({
      ...identity,
      lifespan: async function* () { yield { other: 1 }; },
      user: ({ request }) => ({ account: String(request?.header('x-account')) }),
      tools: {
        find, // here
      },
    });`,
    otherState('tool'),
  ],
  [
    'a tool in a server with another user',
    `createServer({
      ...identity,
      lifespan,
      user: ({ state }) => ({ id: state.db.length }),
      tools: {
        find, // here
      },
    });`,
    otherUser('tool'),
  ],
  [
    'a tool in the server of defineWith without a user',
    `defineWith({ lifespan }).createServer({
      ...identity,
      tools: {
        find, // here
      },
    });`,
    noUser('tool'),
  ],
  [
    'a resource in a server without lifespan and user',
    `createServer({
      ...identity,
      resources: {
        'fits://{id}': resource({ read: ({ id }) => id.length }),
        'mine://{id}': mine.resource({ read: ({ id }, { state }) => [id, state.db] }), // here
      },
    });`,
    noLifespan('resource'),
  ],
  [
    'a resource in a server without a user option, whose lifespan is written in place',
    `createServer({
      ...identity,
      lifespan: async function* () { yield { db: 'x' }; },
      resources: {
        'mine://{id}': mine.resource({ read: ({ id }, { user }) => [id, user.account] }), // here
      },
    });`,
    noUser('resource'),
  ],
  [
    'a resource in a server with another state, whose user option has parameters',
    `createServer({
      ...identity,
      lifespan: async function* () { yield { other: 1 }; },
      user: ({ request }) => ({ account: String(request?.header('x-account')) }),
      resources: {
        'mine://{id}': mine.resource({ read: ({ id }, { state }) => [id, state.db] }), // here
      },
    });`,
    otherState('resource'),
  ],
  [
    'a resource in the server of defineWith with another user',
    `defineWith({ lifespan, user: () => ({ id: 1 }) }).createServer({
      ...identity,
      resources: {
        'mine://account': mine.resource({ read: (_values, { user }) => user.account }), // here
      },
    });`,
    otherUser('resource'),
  ],
  [
    'a prompt in a server without lifespan and user',
    `createServer({
      ...identity,
      prompts: {
        fits: prompt({ run: () => 'x' }),
        mine: mine.prompt({ run: (_args, { user }) => user.account }), // here
      },
    });`,
    noLifespan('prompt'),
  ],
  [
    'a prompt in a server with another user',
    `createServer({
      ...identity,
      lifespan,
      user: ({ state }) => ({ id: state.db.length }),
      prompts: {
        mine: mine.prompt({ run: (_args, { user }) => user.account }), // here
      },
    });`,
    otherUser('prompt'),
  ],
  [
    'a prompt among the tools',
    `createServer({
      ...identity,
      tools: {
        fits: tool({ run: () => 1 }),
        greet: prompt({ run: () => 'x' }), // here
      },
    });`,
    'This is not a tool. Make one with tool({ … }).',
  ],
  [
    'a tool in a server whose lifespan may be missing',
    `createServer({ // here
      ...identity,
      ...(Math.random() > 1 ? { lifespan } : {}),
      user: () => ({ account: 'x' }),
      tools: { find },
    });`,
    "required in type 'NeedsState'",
  ],
  [
    'a tool in a server whose lifespan is misspelt',
    `createServer({
      ...identity,
      lifspan: lifespan,
      user: () => ({ account: 'x' }),
      tools: {
        find, // here
      },
    });`,
    noLifespan('tool'),
  ],
];

const fits = `
createServer({ ...identity, lifespan, user, tools: { find } });
createServer({
  ...identity,
  lifespan: async function* () { yield { db: 'x', more: 1 }; },
  user: async ({ state, request }) => ({ account: state.db, more: request }),
  tools: { find, free: tool({ run: () => 1 }) },
  resources: { 'mine://{id}': mine.resource({ read: ({ id }, { state }) => [id, state.db] }) },
  prompts: { mine: mine.prompt({ run: (_args, { user }) => user.account }) },
  methods: { 'a/b': { run: (_params, { state, user }) => ({ a: state.db + user.account }) } },
});
defineWith({ lifespan, user }).createServer({ ...identity, tools: { find } });
`;

const program = [header, fits, ...misfits.map(([, source]) => source)].join('\n');

describe.each(['typescript', 'typescript-5.9'])('the compiler errors of %s', (compiler) => {
  let errors: readonly Diagnostic[] = [];
  beforeAll(() => {
    errors = compile(compiler);
  }, 180_000);

  it.each(misfits)(
    'for %s are one error, on the line of the mistake, that says what to write',
    (_, source, sentence) => {
      const first = program.slice(0, program.indexOf(source)).split('\n').length;
      const lines = source.split('\n');
      const matches = errors.filter(({ line }) => line >= first && line < first + lines.length);
      expect(matches.map(({ line }) => line)).toEqual([
        first + lines.findIndex((line) => line.includes('// here')),
      ]);
      expect(matches[0]?.text.split('\n').at(-1)).toContain(sentence);
    },
  );

  it('do not appear where the definitions fit, whether or not the user option has parameters', () => {
    expect(errors.length, errors.map(({ text }) => text).join('\n')).toBe(misfits.length);
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Diagnostic {
  readonly line: number;
  readonly text: string;
}

function compile(compiler: string): Diagnostic[] {
  writeFileSync(join(folder, 'misfits.mts'), program);
  const paths = { fullmcp: [join(root, 'dist/index.d.ts')] };
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { paths, typeRoots: [join(root, 'node_modules/@types')], skipLibCheck: true },
    files: ['misfits.mts'],
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  try {
    execFileSync(process.execPath, [join(root, 'node_modules', compiler, 'bin/tsc'), '-p', folder], {
      cwd: folder,
      encoding: 'utf8',
    });
    return [];
  } catch (error) {
    return readDiagnostics((error as { readonly stdout: string }).stdout);
  }
}

/** Reads `file.ts(12,5): error TS2322: …` and the indented lines below it. */
function readDiagnostics(output: string): Diagnostic[] {
  return output
    .split(/\n(?=\S)/)
    .filter((text) => text.trim() !== '')
    .map((text) => ({ line: Number(/^misfits\.mts\((\d+),/.exec(text)?.[1]), text: text.trimEnd() }));
}
