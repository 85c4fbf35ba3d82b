// Runs a program in an engine with tools that are functions, as a server does without its rules.

import type { CodeEnd, CodeRealms, CodeResult, CodeTurn } from 'fullmcp/code';

/** The tools of a program. One that throws fails. */
export type ProgramTools = Readonly<Record<string, (args: never) => unknown>>;

/** A program that has ended. */
export interface EndedProgram {
  /** `stuck`: the program waits for something that never happens. */
  readonly end: CodeEnd | { readonly kind: 'stuck' };
  readonly calls: readonly string[];
  readonly printed: readonly string[];
}

/** The value that a program has returned. */
export function returned({ end }: EndedProgram): unknown {
  if (end.kind !== 'returned') throw new Error(`The program has not returned: ${JSON.stringify(end)}`);
  return JSON.parse(end.json);
}

/** The sentence with which a program has ended. */
export function messageOf({ end }: EndedProgram): string {
  return 'message' in end ? end.message : end.kind;
}

/** Runs a program, and answers its calls in their order. */
export async function runProgram(
  realms: CodeRealms,
  source: string,
  tools: ProgramTools = {},
): Promise<EndedProgram> {
  const realm = realms.realm({ source, seed: 1, now: 1_700_000_000_000 });
  const calls: string[] = [];
  const printed: string[] = [];
  const waiting: CodeTurn['calls'][number][] = [];
  try {
    let turn = await realm.run();
    for (;;) {
      printed.push(...turn.printed);
      waiting.push(...turn.calls);
      calls.push(...turn.calls.map(({ name, json }) => `${name} ${json}`));
      if (turn.end !== undefined) return { end: turn.end, calls, printed };
      const next = waiting.shift();
      if (next === undefined) return { end: { kind: 'stuck' }, calls, printed };
      turn = await realm.run(await resultOf(next, tools));
    }
  } finally {
    realm.end();
  }
}

async function resultOf(
  { seq, name, json }: CodeTurn['calls'][number],
  tools: ProgramTools,
): Promise<CodeResult> {
  const now = 1_700_000_000_000 + seq * 1000;
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return { kind: 'error', seq, now, message: `There is no tool ${name}`, code: 'x' };
  try {
    const value: unknown = await tool(JSON.parse(json) as never);
    return { kind: 'value', seq, now, json: JSON.stringify(value ?? null) };
  } catch (error) {
    return { kind: 'error', seq, now, message: (error as Error).message, code: 'tool_failed' };
  }
}
