import { fileURLToPath } from 'node:url';
import ts from 'typescript-5.9';
import { expect, it } from 'vitest';

// The types of `ai` need `skipLibCheck`, which this project does not set, so the compiler is run here.

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const file = `${root}test/unit/client/tools/program.ts`;

const program = `
  import { generateText, type LanguageModel } from 'ai';
  import { toTools } from 'fullmcp/tools';
  declare const model: LanguageModel;
  declare const server: Parameters<typeof toTools>[0];
  export async function ask() {
    const { tools } = await toTools(server, 'ai-sdk');
    return generateText({ model, tools, prompt: 'go' });
  }
  export async function fail() {
    const { tools } = await toTools(server, 'openai');
    // @ts-expect-error These are not tools of the AI SDK.
    return generateText({ model, tools, prompt: 'go' });
  }`;

function mistakesIn(source: string): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    paths: { fullmcp: [`${root}src/index.ts`], 'fullmcp/*': [`${root}src/*.ts`] },
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
    exactOptionalPropertyTypes: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.readFile = (name) => (name === file ? source : readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, source, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  const compiled = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(compiled, compiled.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

it('the tools for the AI SDK have its types', () => {
  expect(mistakesIn(program)).toEqual([]);
}, 120_000);
