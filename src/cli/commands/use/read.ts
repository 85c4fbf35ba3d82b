import type { Client } from '../../../client/model/client.js';
import { copyError, McpError } from '../../../protocol/errors.js';
import type { ResourceContents } from '../../../protocol/model/content.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import { ANSWER_OPTIONS, Asker } from '../../asking/asker.js';
import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { printText, textIn } from '../../results/print-result.js';
import { described, fileToWrite, SAVE_OPTIONS, type SavedBinary, saveAll } from '../../results/save.js';
import { LOG_OPTIONS, logTo } from '../../target/log.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp read`. */
export const read: Command = {
  usage: '<target> <uri>',
  details:
    'Text goes to stdout. Other bytes need -o or a pipe. On stdout, control characters and invisible ones are shown as \\u{…};\n-o saves everything unchanged.',
  words: [2, 2],
  options: { ...SAVE_OPTIONS, ...ANSWER_OPTIONS, ...LOG_OPTIONS, ...TARGET_OPTIONS },
  examples: [
    { line: 'fullmcp read http://localhost:3000/mcp demo://readme', says: 'Prints the text of a resource.' },
    { line: 'fullmcp read ./server.ts photos://7 -o photo.jpg', says: 'Saves its bytes.' },
  ],
  json: '{ ok: true, uri: string, text: string, contents: ResourceContents[], files?: { path: string, mimeType: string, bytes: number }[] }',
  run: async (input) => {
    const file = fileToWrite(input);
    const asker = new Asker(input);
    await withTarget(
      input,
      async ({ client, target, words: [uri] }) => {
        if (uri === undefined)
          throw usageError('The URI of a resource is missing. `fullmcp list` shows them.');
        const words = ['read', ...(input.process ? [] : [target.word]), uri];
        const { contents, text } = await asker.during(
          { subject: uri, words, process: input.process },
          (signal) => client.readResource(uri, { signal }).catch((error) => named(error, uri, client)),
        );
        const { out } = input;
        const files = file === undefined ? [] : saveAll(file, contents.map(bytesOf), input);
        out.json({ ok: true, uri, text, contents, ...(file !== undefined && { files }) });
        if (file !== undefined || out.isJson) return;
        const binaries = contents.filter((part) => 'blob' in part).map(bytesOf);
        const [only] = binaries;
        if (contents.length === 1 && only && out.isPiped) return out.bytes(only.bytes);
        if (contents.length === 1 && only && out.picture(only.bytes)) return;
        const inBytes = contents.length === 1 && only ? textIn(only) : undefined;
        if (only && inBytes === undefined)
          throw usageError(
            `The resource has bytes (${described(only)}). Save them with -o <file>${contents.length === 1 ? ', or write them to a pipe' : ''}.`,
          );
        printText(inBytes ?? text, out, contents[0]?.mimeType);
      },
      { ...asker.handlers, ...logTo(input) },
    );
  },
};

/** Adds the resource that was probably meant to the error of a server that does not have this one. */
async function named(error: unknown, uri: string, client: Client): Promise<never> {
  if (!McpError.is(error) || error.code !== 'resource_not_found') throw error;
  const listed = await client
    .resources()
    .all()
    .catch(() => []);
  const close = closestName(
    uri,
    listed.map((one) => one.uri),
  );
  if (close === undefined) throw error;
  throw copyError(error, {
    message: `${error.message}. Did you mean ${JSON.stringify(cleanLine(close, 100))}?`,
  });
}

function bytesOf(part: ResourceContents): SavedBinary {
  const mimeType = part.mimeType ?? ('blob' in part ? 'application/octet-stream' : 'text/plain');
  if ('blob' in part) return { bytes: Buffer.from(String(part.blob), 'base64'), mimeType };
  return { bytes: Buffer.from(String('text' in part ? part.text : '')), mimeType };
}
