import { createServer } from 'fullmcp';
import { fromOpenAPI, type OpenAPIOptions } from 'fullmcp/openapi';
import type { Client } from '../../../src/client/model/client.js';
import { inProcessClient } from '../../support/in-process-client.js';

/** A document with these paths. */
export function documentOf(paths: object, more: object = {}): Record<string, unknown> {
  return { openapi: '3.0.3', info: { title: 'Test', version: '1' }, paths, ...more };
}

/** A client of a server that was made from a document. */
export async function clientOf(document: unknown, options: OpenAPIOptions = {}): Promise<Client> {
  const api = await fromOpenAPI(document, { baseUrl: 'https://api.example.com', ...options });
  return inProcessClient(createServer({ ...api, logger: () => undefined }));
}

/** The text of a result. */
export async function textOf(client: Client, tool: string, args: object = {}): Promise<string> {
  const { content } = await client.callTool(tool, args);
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n');
}
