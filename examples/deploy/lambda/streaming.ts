import process from 'node:process';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createHandler } from 'fullmcp/http';
import server from '../../basic-server/server.js';
import { type HttpEvent, type HttpHead, headOf, toRequest } from './adapter.js';

/** The parts of the global of Lambda that are used here. */
declare const awslambda: {
  streamifyResponse<Handler extends (event: HttpEvent, out: Writable) => Promise<void>>(
    handler: Handler,
  ): Handler;
  readonly HttpResponseStream: { from(out: Writable, head: HttpHead): Writable };
};

// #region streaming
const mcp = createHandler(server, {
  publicUrl: process.env['MCP_PUBLIC_URL'],
  secret: process.env['MCP_SECRET'],
  trustProxy: 1,
  // The timeout of the function is 300 s.
  requestTimeoutMs: 280_000,
  maxAgeMs: 280_000,
});

export const handler = awslambda.streamifyResponse(async (event, out) => {
  const response = await mcp(toRequest(event));
  const body = awslambda.HttpResponseStream.from(out, headOf(response));
  // Lambda sends the head with the first write.
  body.write('');
  await pipeline(response.body === null ? [] : Readable.fromWeb(response.body as never), body);
});
// #endregion
