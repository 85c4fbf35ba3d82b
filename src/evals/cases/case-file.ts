// The file of cases that come from chats: JSON, which `fullmcp eval` runs as it runs a module.

import type { JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import { changeText } from '../../tooling/requests/request-file.js';
import { isOwnTarget, RequestsError } from '../../tooling/requests/saved-request.js';
import { readCases } from './case.js';

/** The name of the file in the folder of a project. */
export const CASE_FILE = 'evals.chat.json';

/** A case as JSON: everything in it is a value. */
export interface SavedCase {
  readonly ask: string;
  readonly expect: readonly { readonly tool: string; readonly args: JsonObject }[];
  readonly not?: readonly string[];
  readonly asks?: Readonly<Record<string, JsonObject>>;
}

/** The content of a file. */
interface CaseFile {
  /** The server: a file below the folder of this one, as a file of requests names it. Any other is typed. */
  readonly target?: string;
  readonly cases: readonly SavedCase[];
}

/** Reads the text of a file. Throws a `TypeError` that says what is wrong. */
export function readCaseFile(text: string): CaseFile {
  const { target, cases } = tryParseObject(text) ?? {};
  const isNamed = target === undefined || (typeof target === 'string' && isOwnTarget(target));
  if (!isNamed)
    throw new TypeError(
      '"target" must be a file below its folder, such as src/server.ts. Type any other target: fullmcp eval <file> <target>',
    );
  readCases(cases);
  return { ...(target !== undefined && { target }), cases: cases as readonly SavedCase[] };
}

/** Adds a case to a file, which is made if there is none. Throws a `RequestsError` that says why not. */
export async function addCase(path: string, typed: string, one: SavedCase): Promise<void> {
  const own = isOwnTarget(typed) ? { target: typed } : {};
  await changeText(path, (now) => {
    const { target, cases } = now === undefined ? { ...own, cases: [] } : knownFile(now);
    if (target !== own.target)
      throw new RequestsError(
        `${path} has the cases of ${target ?? 'another server'}. Copy the case instead.`,
      );
    if (cases.some(({ ask }) => ask === one.ask))
      throw new RequestsError(`${path} has a case with this request already. Remove that one first.`);
    return `${JSON.stringify({ ...own, cases: [...cases, one] }, undefined, 2)}\n`;
  });
}

function knownFile(text: string): CaseFile {
  try {
    return readCaseFile(text);
  } catch (error) {
    throw new RequestsError((error as Error).message);
  }
}

/** The text of a case, as it is shown before it is written. */
export function printCase(one: SavedCase): string {
  return JSON.stringify(one, undefined, 2);
}
