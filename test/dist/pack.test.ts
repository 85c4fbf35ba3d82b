import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manyTools } from './many-tools.js';

// The package as a user gets it: packed, and installed in an empty folder outside the project.

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fullmcp-consumer-'));
const modules = join(folder, 'node_modules');
const sources = manyTools(200);
let footprint: { packages: string[]; bytes: number };

beforeAll(async () => {
  const packed = await run(process.execPath, ['scripts/pack.js', folder], { cwd: root });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  cpSync(join(root, 'test/dist/consumer'), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await install(`./${filename}`);
  footprint = measure();
  await install(
    ...['zod', 'typescript', '@types/node'].map((name) => `${name}@${installedVersion(name)}`),
    `typescript-5.9@npm:typescript@${installedVersion('typescript-5.9')}`,
  );
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('an install of the package brings at most 5 packages and 7.7 MB', () => {
  expect(footprint.packages).toContain('fullmcp');
  expect(footprint.packages.length, footprint.packages.join(', ')).toBeLessThanOrEqual(5);
  expect(footprint.bytes).toBeLessThanOrEqual(7_700_000);
});

describe('the documentation of the package', () => {
  const command = join(modules, 'fullmcp/dist/cli/fullmcp.js');

  test('is searched and read by the command that is installed', async () => {
    const found = await run(process.execPath, [command, 'docs', 'Prometheus', 'metrics', '--json'], {
      cwd: folder,
    });
    expect(JSON.parse(found.stdout)).toMatchObject({
      ok: true,
      results: [{ page: 'telemetry.md' }, {}, {}, {}, {}],
    });
    const page = await run(process.execPath, [command, 'docs', 'telemetry.md'], { cwd: folder });
    expect(page.stdout).toBe(readFileSync(join(modules, 'fullmcp/dist/docs/telemetry.md'), 'utf8'));
  });

  test('has the files that a model starts with, and none for the site', () => {
    const names = readdirSync(join(modules, 'fullmcp/dist/docs'));
    expect(names).toEqual(
      expect.arrayContaining(['llms.txt', 'llms-small.txt', 'cli', 'reference', 'asking.md']),
    );
    expect(names).not.toContain('pictures');
    expect(names).not.toContain('pages.js');
  });

  test('is named by the skill that is installed', async () => {
    await run(process.execPath, [command, 'install-skill', folder, '--yes'], { cwd: folder });
    const skill = readFileSync(join(folder, '.agents/skills/fullmcp/SKILL.md'), 'utf8');
    expect(skill).toContain('node_modules/fullmcp/dist/docs');
  });
});

describe('the code of the package', () => {
  test('has the names of functions and private methods in a stack trace, and the line of each call as it was written', async () => {
    const { stdout } = await run(process.execPath, ['trace.mjs'], { cwd: folder });
    const frames = [...stdout.matchAll(/at (?:async )?(\S+)(?: \[as \w+\])? \(file:\/\/(.+):(\d+):\d+\)/g)];
    const lines = new Map(
      frames.map(([, name = '', file = '', line]) => [
        name,
        readFileSync(file, 'utf8').split('\n')[Number(line) - 1]?.trim(),
      ]),
    );
    expect(lines.get('Object.runTool')).toBe('const value = tool.run(input, ctx);');
    expect(lines.get('callTool')).toBe('return runHandler(call, handlerFor(call, tool), input.value);');
    expect(lines.get('#traced')).toBe('if (!callEvents?.hasSubscribers) return dispatch(call);');
    expect([...lines.keys()].filter((name) => /(?:^|[.#])\w{1,2}$/.test(name))).toEqual([]);
  });

  test('is in lines that a person can read, in the library, the command and the inspector', () => {
    const code = readdirSync(join(modules, 'fullmcp/dist'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .map((path) => ({
        path,
        // The font of pages is a line of data.
        lines: readFileSync(join(modules, 'fullmcp/dist', path), 'utf8')
          .split('\n')
          .filter((line) => !line.includes('data:font/woff2;base64,')),
      }));
    expect(code.length).toBeGreaterThan(100);
    // A file that only re-exports has a line for all of its names.
    const dense = code.filter(({ lines }) => lines.length > 20 && lines.join('').length / lines.length > 80);
    expect(dense.map(({ path }) => path)).toEqual([]);
  });
});

describe('the ten-line server', () => {
  test('serves both eras over HTTP', async () => {
    const child = spawn(process.execPath, ['http.mjs'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
      expect(await post(url, initialize)).toMatchObject(initialized);
      expect(await post(url, callAdd, modernHeaders)).toMatchObject(added);
    } finally {
      await stop(child);
    }
  });

  test('serves both eras over one stdio pipe, and exits when its input ends', async () => {
    const child = spawn(process.execPath, ['stdio.mjs'], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
      const ask = async (message: object): Promise<unknown> => {
        child.stdin.write(`${JSON.stringify(message)}\n`);
        return JSON.parse((await lines.next()).value ?? 'null');
      };
      expect(await ask(callAdd)).toMatchObject(added);
      expect(await ask(initialize)).toMatchObject(initialized);
      const exit = once(child, 'exit');
      child.stdin.end();
      expect(await exit).toEqual([0, null]);
    } finally {
      await stop(child);
    }
  });
});

// The compiler of TypeScript 5.9 takes six times as long: `npm run types` tries both.
const compilers = (process.env['COMPILERS'] ?? 'typescript').split(',');

describe.each(compilers)('the types of the package, with %s,', (compiler) => {
  test.concurrent.each([
    ['with the DOM library', 'tsconfig.json'],
    ['with Node types only', 'tsconfig.no-dom.json'],
    ['without Node types, through a bundler', 'tsconfig.edge.json'],
  ])(
    'compile %s and skipLibCheck off',
    async (_, project) => {
      expect(await compile(project, compiler)).toBe('');
    },
    180_000,
  );

  test('have no generic `Uint8Array`, which compilers before 5.7 do not know', () => {
    const declarations = readdirSync(join(modules, 'fullmcp/dist'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.d.ts'))
      .filter((path) => readFileSync(join(modules, 'fullmcp/dist', path), 'utf8').includes('Uint8Array<'));
    expect(declarations).toEqual([]);
  });

  test.concurrent('can be named in the declarations of a program, and make each of 40 mistakes fail to compile', async () => {
    writeProject('strict', ['define-with.ts', 'inferred.ts', 'library.ts', 'mistakes.ts'], {
      declaration: true,
      outDir: `out-${compiler}`,
    });
    expect(await compile('tsconfig.strict.json', compiler)).toBe('');
    const declared = readFileSync(join(folder, `out-${compiler}/define-with.d.ts`), 'utf8');
    expect(declared).not.toMatch(/import\("(?!fullmcp|zod)/);
  }, 180_000);

  test.concurrent('can be named in the declarations of a program that imports one entry', async () => {
    writeProject('only', ['only-middleware.ts'], { declaration: true, outDir: `only-${compiler}` });
    expect(await compile('tsconfig.only.json', compiler)).toBe('');
  }, 180_000);

  // Printing declarations resolves the input and output types of each tool. Handlers look at neither, so most of that
  // cost is the schema library's: plain code that prints the same functions has it too.
  test.each([
    ['1.25 times the instantiations of plain typed handlers', 'plain', false, 1.25],
    ['1.25 times those of plain code that prints the same functions', 'functions', true, 1.25],
    ['2.1 times those of plain code that prints its schemas', 'plain', true, 2.1],
  ] as const)(
    'of a server with 200 tools take at most %s',
    async (_, floor, declaration, most) => {
      const [ours, plain] = await Promise.all([
        instantiations('tools', declaration, compiler),
        instantiations(floor, declaration, compiler),
      ]);
      expect(plain).toBeGreaterThan(50_000);
      expect(ours / plain).toBeLessThanOrEqual(most);
    },
    180_000,
  );
});

const counted = new Map<string, Promise<number>>();

/** How much a compiler does for a server of 200 tools. The count is the same in every run, so it is taken once. */
function instantiations(kind: keyof typeof sources, declaration: boolean, compiler: string): Promise<number> {
  const name = `${kind}-${declaration ? 'declared' : 'checked'}-${compiler}`;
  const known = counted.get(name);
  if (known) return known;
  const count = countInstantiations();
  counted.set(name, count);
  return count;

  async function countInstantiations(): Promise<number> {
    writeFileSync(join(folder, `${name}.ts`), sources[kind]);
    writeProject(name, [`${name}.ts`], { noEmit: true, skipLibCheck: true, declaration });
    const output = await compile(`tsconfig.${name}.json`, compiler, '--extendedDiagnostics');
    expect(output).not.toContain('error TS');
    return Number(/Instantiations:\s+(\d+)/.exec(output)?.[1]);
  }
}

function writeProject(name: string, files: readonly string[], compilerOptions: object): void {
  const config = {
    extends: './tsconfig.json',
    compilerOptions: { noEmit: false, ...compilerOptions },
    files,
    include: [],
  };
  writeFileSync(join(folder, `tsconfig.${name}.json`), JSON.stringify(config));
}

describe('the portable entries of the package', () => {
  const load = (file: string): Promise<{ stdout: string }> =>
    run(process.execPath, ['--import', './refuse-builtins.mjs', file], { cwd: folder });

  test('load no Node built-in', async () => {
    expect((await load('load-portable.mjs')).stdout).toBe('loaded\n');
  });

  test('are loaded under a hook that does reject Node built-ins, as it does for fullmcp/node', async () => {
    await expect(load('load-node.mjs')).rejects.toThrow(/loads node:/);
  });

  test('validate calls of tools with code generation from strings disabled', async () => {
    const args = ['--disallow-code-generation-from-strings', 'no-eval.mjs'];
    const { stdout } = await run(process.execPath, args, { cwd: folder });
    const rejected = { result: { isError: true } };
    expect(JSON.parse(stdout)).toMatchObject([added, rejected, added, rejected]);
  });
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
};
const initialized = { id: 1, result: { protocolVersion: '2025-11-25', serverInfo: { name: 'math' } } };

const callAdd = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'add',
    arguments: { a: 1, b: 2 },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const modernHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'add' };
const added = { id: 1, result: { resultType: 'complete', content: [{ type: 'text', text: '3' }] } };

async function post(url: string, message: object, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  });
  const body = await response.text();
  const event = /^data: ?(\{.*)$/m.exec(body);
  return JSON.parse(event?.[1] ?? body);
}

async function compile(project: string, compiler: string, ...more: string[]): Promise<string> {
  const args = [join(modules, compiler, 'bin/tsc'), '-p', project, ...more];
  return run(process.execPath, args, { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  );
}

async function install(...packages: string[]): Promise<void> {
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder });
}

function installedVersion(name: string): string {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function measure(): { packages: string[]; bytes: number } {
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  const packages = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''));
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' }).map((path) =>
    statSync(join(modules, path)),
  );
  return { packages, bytes: files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
