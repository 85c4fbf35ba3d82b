// The calls of tools in a file: a tape of `fullmcp record`, or an audit log.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import type { RecordedUse } from '../../tooling/manifest/broken-callers.js';
import { usageError } from '../command/failures.js';

const MAX_BYTES = 2_000_000_000;

/** Reads the calls of tools from a file, line by line. Lines that are about something else are skipped. */
export async function* recordedUses(path: string): AsyncGenerator<RecordedUse, void, undefined> {
  await checkFile(path);
  let isKnown = false;
  for await (const line of createInterface({
    input: createReadStream(path),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    const entry = parsed(line);
    isKnown ||=
      entry !== undefined &&
      (entry['fullmcp'] === 'recording' ||
        typeof entry['seq'] === 'number' ||
        typeof entry['type'] === 'string');
    if (!isKnown && line.trim() !== '')
      throw usageError(`${path} is neither a tape of fullmcp record nor an audit log.`);
    const use = entry && useOf(entry);
    if (use !== undefined) yield use;
  }
}

async function checkFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw usageError(`The file ${path} does not exist.`);
  if (found.size > MAX_BYTES) throw usageError(`${path} is larger than 2 GB. Pass the files of some days.`);
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    // A crash may have torn the last line.
    return undefined;
  }
}

/** A line of a tape has the name among its parameters; an entry of an audit log beside them. The end of a call repeats its start. */
function useOf({ type, method, name, params, caller, client, at }: JsonObject): RecordedUse | undefined {
  if (method !== 'tools/call' || type === 'end') return undefined;
  const given = isObject(params) ? params : {};
  const tool = name ?? given['name'];
  const args = given['arguments'] ?? {};
  if (typeof tool !== 'string' || !isObject(args)) return undefined;
  const subject = isObject(caller) ? caller['subject'] : undefined;
  return {
    tool,
    args,
    caller: typeof subject === 'string' ? subject : undefined,
    client: typeof client === 'string' ? client : undefined,
    at: typeof at === 'string' ? at : undefined,
  };
}
