import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';
import { beforeAll, describe, expect, it } from 'vitest';

const folder = dirname(fileURLToPath(import.meta.url));
const file = join(folder, 'hovered.ts');

// Each comment follows the name that the mouse points at.
const marked = `
import { createServer, defineWith, prompt, resource, tool } from 'fullmcp';
import { z } from 'zod';

const add/*tool*/ = tool({
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
});
const weather = tool({
  input: z.object({ city: z.string(), days: z.int().default(3) }),
  output: z.object({ sky: z.enum(['clear', 'rain']), degrees: z.number() }),
  run: () => ({ sky: 'clear', degrees: 20 }),
});
const user/*resource*/ = resource({ read: ({ id }: { id: string }) => ({ id }) });
const review/*prompt*/ = prompt({ args: z.object({ code: z.string() }), run: ({ code }) => code });
const server/*server*/ = createServer/*createServer*/({
  name: 'hovered',
  version: '1.0.0',
  timeoutMs/*option*/: 60_000,
  tools: { add, weather },
  resources: { 'users://{id}': user },
  prompts: { review },
});
const own = defineWith({ user: ({ request }) => ({ account: request?.header('x-account') ?? 'nobody' }) });
const mine/*toolOfDefineWith*/ = own.tool/*definersTool*/({ run: (_input, ctx/*ctx*/) => ctx.user.account });
void [server, mine];
`;

let hovers: ReadonlyMap<string, Hover>;

beforeAll(() => {
  hovers = readHovers(marked);
}, 180_000);

describe("the editor's hover", () => {
  it.each([
    ['a tool', 'tool', { lines: 4, characters: 100 }],
    ['a resource', 'resource', { lines: 3, characters: 100 }],
    ['a prompt', 'prompt', { lines: 3, characters: 100 }],
    ['a tool of defineWith', 'toolOfDefineWith', { lines: 3, characters: 100 }],
    ['the context of a handler', 'ctx', { lines: 3, characters: 100 }],
    ['a server with two tools', 'server', { lines: 13, characters: 400 }],
    ['the call of createServer for that server', 'createServer', { lines: 42, characters: 1050 }],
  ])('shows %s within its limit of lines and characters', (_, name, most) => {
    const { type } = hoverOf(name);
    expect(type).not.toMatch(/\bany\b|~signature|NoInfer/);
    expect(type.split('\n').length, type).toBeLessThanOrEqual(most.lines);
    expect(type.length, type).toBeLessThanOrEqual(most.characters);
  });

  it('shows a tool as the function that a client calls, and no schema types in a server', () => {
    expect(hoverOf('tool').type.replaceAll(/\s+/g, ' ')).toBe(
      'const add: Tool<(args: { a: number; b: number; }) => number, unknown, unknown>',
    );
    expect(hoverOf('server').type).not.toContain('ZodObject');
  });

  it.each(['createServer', 'definersTool', 'option'])('shows the doc comment of %s', (name) => {
    expect(hoverOf(name).docs).toMatch(/^[A-Z].{20,}\.$/s);
  });
});

function hoverOf(name: string): Hover {
  const hover = hovers.get(name);
  if (hover === undefined) throw new Error(`Nothing is marked as ${name}.`);
  return hover;
}

interface Hover {
  readonly type: string;
  readonly docs: string;
}

function readHovers(text: string): ReadonlyMap<string, Hover> {
  const service = openService(text);
  expect(service.getSemanticDiagnostics(file).map(({ messageText }) => messageText)).toEqual([]);
  const byName = new Map<string, Hover>();
  for (const { 1: name = '', index } of text.matchAll(/\/\*(\w+)\*\//g)) {
    const info = service.getQuickInfoAtPosition(file, index - 1);
    byName.set(name, {
      type: ts.displayPartsToString(info?.displayParts),
      docs: ts.displayPartsToString(info?.documentation),
    });
  }
  return byName;
}

function openService(text: string): ts.LanguageService {
  const config = ts.findConfigFile(folder, ts.sys.fileExists, 'tsconfig.json') ?? '';
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(config, ts.sys.readFile).config,
    ts.sys,
    dirname(config),
  );
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(name) {
      const content = name === file ? text : ts.sys.readFile(name);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => dirname(config),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
}
