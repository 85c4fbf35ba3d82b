import {
  type Client,
  callTool,
  connect,
  listTools,
  McpError,
  type Middleware,
  withClient,
} from 'fullmcp/client';
import type mathServer from '../basic-server/server.js';
import demo from '../demo/server.js';
import bank from '../tasks/idempotent.js';

// The examples of docs/call.md.

export async function results(): Promise<unknown[]> {
  await using client = await connect(demo);
  // #region results
  const result = await client.callTool('add', { a: 1, b: 2 });
  result.text; //       '3': all text blocks, one per line, for a model
  result.data; //       3: the structured content, validated against the tool's output schema
  result.content; //    the blocks themselves: text, images, links
  result.isError; //    false
  result.unwrap(); //   3: the data, or the text if there is no data
  // #endregion
  return [result.text, result.data, result.content.length, result.isError, result.unwrap()];
}

export async function failure(): Promise<unknown[]> {
  await using client = await connect(demo);
  // #region failure
  const result = await client.callTool('find_order', { id: 7 });
  result.isError; //    true: a tool's own failure is a result, for the model to read
  result.text; //       'Order 7 does not exist. Try 1, 2 or 3.'
  result.unwrap(); //   throws an McpError with the code tool_failed
  // #endregion
  return [result.isError, result.text];
}

export async function typed(url: string): Promise<number> {
  // #region typed
  // import type mathServer from './server.js';   the type only: the server itself is not loaded
  await using math = await connect<typeof mathServer>(url);
  const sum = await math.tool.add({ a: 1, b: 2 }); // a number; a typo does not compile; a failure throws
  // #endregion
  return sum;
}

export async function lists(): Promise<unknown[]> {
  await using client = await connect(demo);
  const names: string[] = [];
  // #region lists
  for await (const tool of client.tools()) names.push(tool.name); // fetches the next page only when it is needed
  const prompts = await client.prompts().all();
  const resources = await client.resources().all();
  const templates = await client.templates().all();
  // #endregion
  return [names, prompts.length, resources.length, templates.length];
}

export async function others(): Promise<unknown[]> {
  await using client = await connect(demo);
  // #region others
  const { text, contents } = await client.readResource('demo://readme');
  const { messages } = await client.getPrompt('explain', { topic: 'bread' });
  const { values } = await client.complete({ prompt: 'explain', argument: 'topic', value: 'b' });
  // #endregion
  return [text.split('\n')[0], contents.length, messages.length, values];
}

export async function progress(stop: AbortSignal, stepMs: number): Promise<string[]> {
  await using client = await connect(demo);
  const lines: string[] = [];
  // #region progress
  await client.callTool(
    'countdown',
    { from: 3, stepMs },
    {
      onProgress: ({ progress, total, message }) => lines.push(`${progress}/${total} ${message}`),
      onLog: ({ level, data }) => console.error(level, data),
      signal: stop, //           cancels the call, also on the server
      timeoutMs: 10_000, //      each progress notification restarts it
      maxTimeoutMs: 60_000, //   in total, regardless of progress
    },
  );
  // #endregion
  return lines;
}

export async function tasks(): Promise<string[]> {
  await using client = await connect(demo, {
    elicit: () => ({ action: 'accept', content: { crust: 'golden' } }),
  });
  // #region tasks
  const task = await client.startTool('bake_bread', { stepMs: 1 });
  task.id; //                                 save it: client.task(id) finds the task again, also after a restart
  const { status } = await task.status(); // 'working', 'input_required', 'completed', 'failed' or 'cancelled'
  const { text } = await task.result(); //   waits; your handlers answer its questions
  // #endregion
  return [status, text];
}

export async function byHand(client: Client, id: string): Promise<string> {
  // #region by-hand
  const task = client.task(id); // in another program, on another day
  const { questions } = await task.status();
  if ('crust' in questions) await task.answer({ crust: { action: 'accept', content: { crust: 'dark' } } });
  const { text } = await task.result();
  // #endregion
  return text;
}

export async function safely(): Promise<string[]> {
  await using client = await connect(bank);
  // #region idempotent
  const idempotencyKey = crypto.randomUUID(); // one key for each payment, not for each attempt
  const first = await client.callTool('pay', { invoice: 7 }, { idempotencyKey });
  const again = await client.callTool('pay', { invoice: 7 }, { idempotencyKey }); // the first result; not paid twice
  // #endregion
  return [first.text, again.text];
}

export async function wrapped(lines: string[]): Promise<void> {
  // #region middleware
  const timing: Middleware = async (call, next) => {
    const startedAt = performance.now();
    try {
      return await next(call);
    } finally {
      lines.push(`${call.method} took ${Math.round(performance.now() - startedAt)} ms`);
    }
  };
  await using client = await connect(demo, { use: [timing] });
  // #endregion
  await client.callTool('add', { a: 1, b: 2 });
}

export async function errors(url: string): Promise<string> {
  await using client = await connect(url);
  // #region errors
  try {
    await client.callTool('add', { a: 1, b: 2 }, { timeoutMs: 5000 });
    return 'done';
  } catch (error) {
    if (!McpError.is(error)) throw error; // McpError.is also accepts errors of another copy of this package
    switch (error.code) {
      case 'timeout':
      case 'connection_closed':
        return 'it is unknown whether the tool ran';
      case 'unauthorized':
        return 'log in again';
      default:
        return `${error.code}: ${error.message}`;
    }
  }
  // #endregion
}

export async function source(url: string): Promise<unknown[]> {
  await using client = await connect(url);
  // #region source
  const result = await client.callTool('add', { a: 1, b: 2 });
  const { server, method, name, requestId } = result.source; // 'math', 'tools/call', 'add', 7
  try {
    await client.callTool('subtract');
  } catch (error) {
    if (McpError.is(error)) console.error(error.message, error.source); // … { server: 'math', …, requestId: 8 }
  }
  // #endregion
  return [server, method, name, requestId];
}

export async function oneShots(url: string): Promise<unknown[]> {
  // #region one-shots
  const { data } = await callTool(url, 'add', { a: 1, b: 2 });
  const tools = await listTools(url);
  const sum = await withClient(url, async (client) => (await client.callTool('add', { a: 2, b: 3 })).text);
  // #endregion
  return [data, tools.length, sum];
}
