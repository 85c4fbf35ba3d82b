// The requests of the page to the inspector.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpError } from '../../protocol/errors.js';
import type { Failure } from '../contract/failure.js';
import type { Inspector } from '../contract/inspector.js';
import type { EventStreams } from './event-streams.js';
import { readCommand, UnreadableCommand } from './read-command.js';
import { refuse, send, sendFailure, sendJson } from './reply.js';

export interface ApiParts {
  readonly inspector: Inspector;
  readonly streams: EventStreams;
  readonly sandboxOrigin: string | undefined;
}

/** Answers a request below `api/`. */
export async function answerApi(
  { inspector, streams, sandboxOrigin }: ApiParts,
  path: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const [kind = '', id = '', more] = path.split('/');
  if (more !== undefined || !isDecodable(id)) return notFound(req, res);
  const name = decodeURIComponent(id);
  if (kind === 'run') return runCommand(inspector, name, req, res);
  if (req.method !== 'GET') return wrongMethod(req, res, 'GET');
  switch (kind) {
    case 'snapshot':
      return sendJson(req, res, {
        ...inspector.snapshot(),
        ...(sandboxOrigin !== undefined && { sandboxOrigin }),
      });
    case 'events':
      return streams.open(req, res, lastSeen(req));
    case 'catalog':
      return sendFound(req, res, inspector.catalog(name));
    case 'message':
      return sendFound(req, res, isNumber(name) ? inspector.message(Number(name)) : undefined);
    case 'outcome':
      return sendFile(req, res, isNumber(name) ? inspector.outcome(Number(name)) : undefined, {
        name: `outcome-${name}.json`,
        type: 'application/json',
      });
    case 'share':
      return sendFile(req, res, isNumber(name) ? inspector.share(Number(name)) : undefined, {
        name: `call-${name}.html`,
        type: 'text/html',
      });
    case 'tape':
      return sendFile(req, res, inspector.tape(name), { name: 'tape.ndjson', type: 'application/x-ndjson' });
    default:
      return notFound(req, res);
  }
}

async function runCommand(
  inspector: Inspector,
  name: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method !== 'POST') return wrongMethod(req, res, 'POST');
  if (!/^[A-Za-z]{1,40}$/.test(name)) return notFound(req, res);
  try {
    sendJson(req, res, await inspector.run(name, await readCommand(req)));
  } catch (error) {
    if (error instanceof UnreadableCommand) return refuse(req, res, error.refusal, { isApi: true });
    sendFailure(req, res, McpError.is(error) ? 422 : 500, failureOf(error));
  }
}

function failureOf(error: unknown): Failure {
  if (!McpError.is(error))
    return {
      code: 'internal_error',
      message: `The inspector failed: ${error instanceof Error ? error.message : String(error)}`,
    };
  const { code, message, data } = error;
  return { code, message, ...(data !== undefined && { data }) };
}

/** The number of the last event that the page has. A browser that reconnects by itself says it in a header. */
function lastSeen(req: IncomingMessage): number {
  const header = req.headers['last-event-id'];
  const query = new URL(req.url ?? '', 'http://localhost').searchParams.get('after');
  const text = typeof header === 'string' && isNumber(header) ? header : (query ?? '');
  return isNumber(text) ? Number(text) : -1;
}

function isNumber(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function sendFound(req: IncomingMessage, res: ServerResponse, value: object | undefined): void {
  if (value === undefined) notFound(req, res);
  else sendJson(req, res, value);
}

function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  body: string | undefined,
  { name, type }: { readonly name: string; readonly type: string },
): void {
  if (body === undefined) return notFound(req, res);
  const headers = {
    'content-type': `${type}; charset=utf-8`,
    'content-disposition': `attachment; filename="${name}"`,
  };
  send(req, res, { headers, body });
}

function notFound(req: IncomingMessage, res: ServerResponse): void {
  sendFailure(req, res, 404, {
    code: 'not_found',
    message: 'The inspector does not have this, or not any more.',
  });
}

function wrongMethod(req: IncomingMessage, res: ServerResponse, allowed: string): void {
  sendFailure(req, res, 405, { code: 'wrong_method', message: `This address takes ${allowed} only.` });
}
