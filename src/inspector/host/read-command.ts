// Reads the body of a command.

import type { IncomingMessage } from 'node:http';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { Refusal } from './guard.js';

/** Arguments of tools may be files. */
const MAX_BYTES = 32 * 1024 * 1024;
const SILENCE_MS = 15_000;

/** A request that cannot be read. */
export class UnreadableCommand extends Error {
  readonly refusal: Refusal;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'UnreadableCommand';
    this.refusal = { status, message };
  }
}

/** The JSON object in the body. Throws an `UnreadableCommand` if there is none, or if the body is too large or too slow. */
export async function readCommand(req: IncomingMessage): Promise<JsonObject> {
  if (!/^application\/json\s*(?:;|$)/i.test(req.headers['content-type'] ?? ''))
    throw new UnreadableCommand(415, 'A command must be application/json.');
  const { body } = req as { body?: unknown };
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  // A framework may have read the body before.
  if (isObject(body) && !isText) return body;
  if (!isText && req.readableEnded)
    throw new UnreadableCommand(
      400,
      'The body was read before. Mount the inspector before parsers of bodies, or pass the body on as `req.body`.',
    );
  const text = isText ? String(body) : await readText(req);
  const value = tryParseObject(text);
  if (value !== undefined) return value;
  throw new UnreadableCommand(400, 'A command must be a JSON object.');
}

function readText(req: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const tooLarge = (): void => {
      req.pause();
      fail(new UnreadableCommand(413, `A command must not be larger than ${MAX_BYTES / 1024 / 1024} MB.`));
    };
    const silence = setTimeout(
      () => fail(new UnreadableCommand(408, 'The command did not arrive in time.')),
      SILENCE_MS,
    );
    function fail(error: Error): void {
      clearTimeout(silence);
      req.off('data', take);
      reject(error);
    }
    function take(chunk: Buffer): void {
      bytes += chunk.length;
      silence.refresh();
      if (bytes > MAX_BYTES) tooLarge();
      else chunks.push(chunk);
    }
    if (Number(req.headers['content-length'] ?? 0) > MAX_BYTES) return tooLarge();
    req.on('data', take);
    req.once('end', () => {
      clearTimeout(silence);
      resolve(Buffer.concat(chunks).toString('utf8'));
    });
    req.once('close', () => fail(new UnreadableCommand(400, 'The command ended early.')));
  });
}
