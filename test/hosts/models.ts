// Models that do what the results of tools say, in the shapes of the vendors whose command-line hosts are tested.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MockModel, mockModel } from 'fullmcp/testing';

/** A model on loopback, and what the tools have returned to it. */
export interface PlayedModel {
  readonly url: string;
  readonly results: readonly string[];
  readonly tools: ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

interface ToolUse {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Calls `long` and then `ask`, each until its result is there. */
class Player {
  readonly results: string[] = [];
  readonly tools = new Set<string>();
  #next = ['long', 'ask'];

  /** The next call, in answer to the last result; undefined at the end. */
  next(offered: readonly string[], result: string | undefined): ToolUse | undefined {
    for (const tool of offered) this.tools.add(tool);
    if (result !== undefined) this.results.push(result);
    // Hosts ask their models other things, too, and may begin before the server is connected.
    const isOffered = (name: string): boolean => offered.some((tool) => tool.endsWith(name));
    if (!isOffered('long')) return undefined;
    const told = toldIn(result);
    if (told !== undefined) return told;
    const name = this.#next.shift();
    return name === undefined ? undefined : { name, args: {} };
  }
}

/** The call that a result asks for, from its data as JSON or from its words; undefined for the result of the tool. */
function toldIn(result = ''): ToolUse | undefined {
  const text = result.replaceAll('\\"', '"');
  const [, task = ''] = /"task":"([\w-]+)"/.exec(text) ?? [];
  if (text.includes('Call continue_task with')) return { name: 'continue_task', args: { task } };
  if (!text.includes('call answer_question with')) return undefined;
  return { name: 'answer_question', args: { task, question: 'size', answer: { size: 'L' } } };
}

const named = (offered: readonly string[], { name, args }: ToolUse): ToolUse => ({
  name: offered.find((tool) => tool.endsWith(name)) ?? name,
  args,
});

/** A model of Anthropic. */
export async function anthropicModel(): Promise<PlayedModel> {
  const player = new Player();
  const model = await mockModel(({ tools, results }) => {
    const call = player.next(tools, results.at(-1)?.text);
    return call === undefined ? 'finished' : { calls: [named(tools, call)] };
  });
  return { ...player, url: model.url, close: () => model.close() };
}

/** A model of OpenAI, which calls tools in the namespace in which Codex offers them. */
export async function openaiModel(namespace: string): Promise<PlayedModel> {
  const player = new Player();
  const model: MockModel = await mockModel(({ tools, results }) => {
    const call = player.next(tools, results.at(-1)?.text);
    return call === undefined ? 'finished' : { calls: [named(tools, call)] };
  });
  const relay = await listening(async (request, response) => {
    const body = await bodyOf(request);
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${model.url}${request.url}`, {
      method: request.method ?? 'POST',
      headers,
      body,
    });
    const text = await reply.text();
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? '' });
    response.end(
      text.replaceAll('"type":"function_call"', `"type":"function_call","namespace":"${namespace}"`),
    );
  });
  const close = async (): Promise<void> => {
    await relay.close();
    await model.close();
  };
  return { ...player, url: relay.url, close };
}

interface GeminiPart {
  readonly text?: string;
  readonly functionResponse?: { readonly response: { readonly output?: string; readonly error?: string } };
}

interface GeminiRequest {
  readonly contents?: readonly { readonly parts: readonly GeminiPart[] }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly { readonly name: string }[] }[];
}

/** A model of Google. */
export async function geminiModel(): Promise<PlayedModel> {
  const player = new Player();
  const stub = await listening(async (request, response) => {
    const { contents = [], tools = [] } = JSON.parse((await bodyOf(request)) || '{}') as GeminiRequest;
    const offered = tools.flatMap(({ functionDeclarations = [] }) =>
      functionDeclarations.map(({ name }) => name),
    );
    const given = contents
      .at(-1)
      ?.parts.find((part) => part.functionResponse !== undefined)?.functionResponse;
    const call = player.next(offered, given?.response.output ?? given?.response.error);
    const part = call === undefined ? { text: 'finished' } : { functionCall: named(offered, call) };
    const candidate = { content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 };
    const answer = { candidates: [candidate], usageMetadata: { totalTokenCount: 2 } };
    const isStreamed = request.url?.includes('stream') === true;
    response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' });
    response.end(isStreamed ? `data: ${JSON.stringify(answer)}\r\n\r\n` : JSON.stringify(answer));
  });
  return { ...player, ...stub };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  return text;
}

async function listening(
  reply: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Pick<PlayedModel, 'url' | 'close'>> {
  const server = createServer((request, response) => {
    reply(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
