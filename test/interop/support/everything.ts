import process from 'node:process';
import {
  type CallResult,
  type Client,
  connect,
  type ElicitForm,
  type ElicitUrl,
  type LogMessage,
  type Root,
  type SamplingRequest,
} from 'fullmcp/client';
import { type ObservedServer, pathInPackage, startObserved } from './observed-server.js';

export const script: string = pathInPackage('@modelcontextprotocol/server-everything/dist/index.js');

export interface Row {
  readonly over: 'stdio' | 'sse' | 'streamableHttp';
  readonly path: string;
  readonly transport: string;
}

export const rows: readonly Row[] = [
  { over: 'stdio', path: '', transport: 'stdio' },
  { over: 'sse', path: '/sse', transport: 'http+sse' },
  { over: 'streamableHttp', path: '/mcp', transport: 'http' },
];

/** The server with a client, and the questions to the client. */
export interface Scene {
  readonly client: Client;
  /** Only if the server is not on stdio. */
  readonly server: ObservedServer | undefined;
  readonly research: Promise<CallResult>;
  readonly log: readonly LogMessage[];
  readonly forms: readonly ElicitForm[];
  readonly visits: readonly ElicitUrl[];
  readonly samplings: readonly SamplingRequest[];
  roots: readonly Root[];
}

export async function open({ over, path }: Row): Promise<Scene> {
  const log: LogMessage[] = [];
  const forms: ElicitForm[] = [];
  const visits: ElicitUrl[] = [];
  const samplings: SamplingRequest[] = [];
  // The server may ask for the roots at any time, even while the client is still connecting.
  const stage: Pick<Scene, 'roots'> = { roots: [{ uri: 'file:///work', name: 'work' }] };
  const server = over === 'stdio' ? undefined : await startObserved(script, over);
  const client = await connect(
    server === undefined
      ? { command: process.execPath, args: [script, over], env: { GREETING: 'hello' } }
      : `${server.origin}${path}`,
    {
      elicit: {
        form(form) {
          forms.push(form);
          const asksTopic = form.message.includes('python');
          return { action: 'accept', content: asksTopic ? { interpretation: 'snake' } : { name: 'Ada' } };
        },
        url(visit) {
          visits.push(visit);
          return { action: 'accept' };
        },
      },
      sample(request) {
        samplings.push(request);
        return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } };
      },
      roots: () => stage.roots,
      onLog: (message) => log.push(message),
    },
  );
  await client.tools().all();
  // This call takes a while, so it starts before the other tests run.
  const research = client.callTool('simulate-research-query', { topic: 'python', ambiguous: true });
  research.catch(() => undefined);
  return Object.assign(stage, { client, server, research, log, forms, visits, samplings });
}
