// The source of a program: wrapped in a function, and without types.

/** The name of the file that the program seems to be in. */
export const FILE = 'program.ts';

/** A program cannot be compiled. */
export class SourceError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line: number | undefined) {
    super(message);
    this.name = 'SyntaxError';
    this.line = line;
  }
}

/** The mistake in a program that may be TypeScript, for a realm that cannot remove types. */
export function withoutTypesLibrary({ message, line }: SourceError): SourceError {
  const hint =
    'If the program has types, write it without them: this server cannot remove them, because the package "@swc/wasm-typescript" is not installed.';
  return new SourceError(`${message}. ${hint}`, line);
}

/** Removes the types from a source, and leaves everything else where it is. */
export type RemoveTypes = (source: string) => string;

/** Compiles a source. Throws if it is not JavaScript. */
export type Compile = (source: string) => void;

// Without a new line, so that the lines are those of the model.
const wrap = (source: string): string => `(async () => {"use strict";${source}\n})`;
// A source that closes the one wrapper is not a program in the other.
const wrapOtherwise = (source: string): string => `async function program() {"use strict";${source}\n}`;

/**
 * The program as an expression that is an async function. It is tried as JavaScript first, and the types are removed only if that fails.
 * Throws a `SourceError`.
 */
export function programOf(source: string, compile: Compile, removeTypes: RemoveTypes | undefined): string {
  const asJavaScript = problemOf(source, compile);
  if (asJavaScript === undefined) return wrap(source);
  if (removeTypes === undefined) throw asJavaScript;
  const [one, other] = [wrap(source), wrapOtherwise(source)].map((text) => withoutTypes(text, removeTypes));
  for (const text of [one, other] as string[]) {
    const problem = tryCompile(text, compile);
    if (problem !== undefined) throw problem;
  }
  return one as string;
}

function problemOf(source: string, compile: Compile): SourceError | undefined {
  return tryCompile(wrapOtherwise(source), compile) ?? tryCompile(wrap(source), compile);
}

function tryCompile(text: string, compile: Compile): SourceError | undefined {
  try {
    compile(text);
    return undefined;
  } catch (error) {
    const { message, stack } = error as Error;
    return new SourceError(message, lineIn(stack));
  }
}

/** The library throws an object like this one, which is not an Error. */
interface StripFailure {
  readonly message?: string;
  readonly startLine?: number;
}

function withoutTypes(text: string, removeTypes: RemoveTypes): string {
  try {
    return removeTypes(text);
  } catch (thrown) {
    const { message = String(thrown), startLine } = (thrown ?? {}) as StripFailure;
    throw new SourceError((message.split('\n')[0] ?? '').slice(0, 300), startLine);
  }
}

/** The first line of the program in a stack trace. */
export function lineIn(stack: string | undefined): number | undefined {
  const [, line] = /program\.ts:(\d{1,6})/.exec(stack ?? '') ?? [];
  return line === undefined ? undefined : Number(line);
}
