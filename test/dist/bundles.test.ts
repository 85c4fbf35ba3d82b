import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Programs that a bundler puts into one file, without a folder node_modules beside it, as for AWS Lambda.

const root = fileURLToPath(new URL('../../', import.meta.url));
const DEPENDENCIES = ['@cfworker/json-schema', 'jose', 'oauth4webapi', 'ws'];
const DRIVERS = ['pg', '@redis/client', '@nats-io/transport-node', '@nats-io/jetstream'];

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fullmcp-bundles-'));
  await installInto('with-drivers', [...DEPENDENCIES, ...DRIVERS]);
  await installInto('without-drivers', DEPENDENCIES);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A project that has the built package and some others. */
async function installInto(project: string, names: readonly string[]): Promise<void> {
  const modules = join(folder, project, 'node_modules');
  for (const name of names) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name));
  }
  await mkdir(join(modules, 'fullmcp'), { recursive: true });
  await cp(join(root, 'package.json'), join(modules, 'fullmcp/package.json'));
  await cp(join(root, 'dist'), join(modules, 'fullmcp/dist'), { recursive: true });
}

/** Bundles a program into one file outside of its project. Returns the path of the file, and the messages of the bundler. */
async function bundle(
  project: string,
  program: string,
  format: 'esm' | 'cjs',
): Promise<{ readonly file: string; readonly logs: readonly string[] }> {
  const input = join(folder, project, `program-${Math.random().toString(36).slice(2)}.mjs`);
  await writeFile(input, program);
  const logs: string[] = [];
  const bundled = await rolldown({
    input,
    platform: 'node',
    onLog: (level, { message }) => logs.push(`${level}: ${message}`),
  });
  const file = `${input.replace(join(folder, project), join(folder, `bundle-${project}`))}.${format === 'esm' ? 'mjs' : 'cjs'}`;
  await bundled.write({ file, format, codeSplitting: false });
  await bundled.close();
  return { file, logs };
}

async function run(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: dirname(file) });
  return stdout.trim();
}

const PORT = 9; // Nothing listens there.
const engines = {
  postgres: `postgres({ url: 'postgres://127.0.0.1:${PORT}/x' })`,
  redis: `redis({ url: 'redis://127.0.0.1:${PORT}' })`,
  nats: `nats({ url: 'nats://127.0.0.1:${PORT}' })`,
};
const program = (engine: string, code: string): string => `
  import { ${engine} } from 'fullmcp/${engine}';
  ${code}.start().then(() => console.log('started'), (error) => console.log(error.message)).finally(() => process.exit());
`;

describe.each(Object.entries(engines))('a bundle that uses %s with a URL', (engine, code) => {
  test.each(['esm', 'cjs'] as const)('has the driver in it, as %s', async (format) => {
    const { file } = await bundle('with-drivers', program(engine, code), format);
    expect(await run(file)).toMatch(
      new RegExp(`127\\.0\\.0\\.1:${PORT}.*(?:ECONNREFUSED|connection refused)`),
    );
  });

  test.each(['esm', 'cjs'] as const)(
    'names the package that is missing, and what to do, as %s',
    async (format) => {
      const { file } = await bundle('without-drivers', program(engine, code), format);
      expect(await run(file)).toMatch(
        /Install .*npm install \S+\. If the program is bundled, install it where the bundle is made/,
      );
    },
  );
});

test.each(['esm', 'cjs'] as const)(
  'a bundle of a server that uses no engine gets no warning about drivers that are not installed, as %s',
  async (format) => {
    const { file, logs } = await bundle(
      'without-drivers',
      `import { createServer, tool } from 'fullmcp';
       import { connect } from 'fullmcp/client';
       import { serve } from 'fullmcp/node';
       const server = createServer({ name: 'x', version: '1.0.0', tools: { hello: tool({ run: () => 'Hello!' }) } });
       serve(server, { port: 0, signals: false }).then(async (serving) => {
         const client = await connect(serving.url);
         console.log((await client.callTool('hello', {})).text);
         await client.close();
         await serving.close();
       });`,
      format,
    );
    expect(logs.filter((line) => /pg|redis|ioredis|iovalkey|nats/.test(line))).toEqual([]);
    expect(await run(file)).toBe('Hello!');
  },
);
