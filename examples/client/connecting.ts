import { connect, knownServer, McpError } from 'fullmcp/client';
import server from '../basic-server/server.js';

// The examples of docs/connect.md.

export async function targets(url: string, script: string): Promise<string[]> {
  const socketUrl = url.replace('http:', 'ws:');
  // #region targets
  await using remote = await connect(url); //       'https://example.com/mcp': Streamable HTTP or HTTP+SSE
  await using socket = await connect(socketUrl); // 'wss://example.com/mcp': a WebSocket
  await using child = await connect({ command: 'node', args: [script] }); // a process; it ends with the client
  await using same = await connect(script); //      './stdio.js': .js, .ts and .py are started
  await using inside = await connect(server); //    a server in this process, without a transport
  // #endregion
  const clients = [remote, socket, child, same, inside];
  const sums = await Promise.all(clients.map((client) => client.callTool('add', { a: 1, b: 2 })));
  return clients.map((client, at) => `${client.info().transport} ${sums[at]?.text}`);
}

export async function inOrder(local: string, remote: string): Promise<string> {
  // #region list
  await using client = await connect([local, remote], { connectTimeoutMs: 5000 });
  // #endregion
  return client.info().target;
}

export async function closing(url: string): Promise<string> {
  // #region closing
  const client = await connect(url);
  try {
    return (await client.callTool('add', { a: 1, b: 2 })).text;
  } finally {
    await client.close(); // `await using client = …` does this automatically
  }
  // #endregion
}

export async function failed(url: string): Promise<string> {
  // #region failed
  try {
    await using client = await connect(url);
    return client.server.revision;
  } catch (error) {
    if (!McpError.is(error)) throw error;
    return `${error.code}: ${error.message}`;
    // connect_failed: Cannot reach http://localhost:3000/mcp (ECONNREFUSED): nothing listens there. Is the server running?
  }
  // #endregion
}

export async function certificates(url: string, folder: string): Promise<string> {
  // #region certificates
  await using client = await connect(url, {
    ca: `${folder}/ca.pem`, //       the authority that signed the server's certificate: a path, or PEM text
    cert: `${folder}/client.pem`, // the client's own certificate, for a server that requires one
    key: `${folder}/client-key.pem`,
  });
  // #endregion
  return (await client.callTool('add', { a: 1, b: 2 })).text;
}

export async function options(url: string, tokens: { current: () => Promise<string> }): Promise<string> {
  // #region options
  await using client = await connect(url, {
    client: { name: 'my-agent', version: '1.0.0' }, // servers may show and log it
    auth: () => tokens.current(), //                   a bearer token; called before each request
    headers: { 'x-tenant': 'acme' },
    timeoutMs: 30_000, //                              without a response or progress
    maxTimeoutMs: 300_000, //                          in total
    reconnect: { maxAttempts: 10 },
    onLog: ({ level, data }) => console.error(level, data),
  });
  // #endregion
  return (await client.callTool('add', { a: 1, b: 2 })).text;
}

export async function environment(script: string, folder: string, token: string): Promise<string> {
  // #region process
  await using client = await connect({
    command: 'node',
    args: [script],
    env: { API_TOKEN: token }, // the child does not get your whole environment: see below
    cwd: folder,
    stderr: 'inherit', //         or a function that gets its lines
  });
  // #endregion
  return (await client.callTool('add', { a: 1, b: 2 })).text;
}

export async function again(url: string): Promise<number> {
  await using first = await connect(url);
  // #region known
  const known = knownServer(first); // plain JSON: save it anywhere
  await using client = await connect(url, { known }); // nothing is sent before the first call
  // #endregion
  return (await client.callTool('add', { a: 1, b: 2 })).unwrap() as number;
}

export async function states(url: string): Promise<unknown[]> {
  await using client = await connect(url);
  // #region states
  client.on('status', ({ status, reason }) => console.error(status, reason?.message)); // reconnecting, ready, closed
  client.on('problem', ({ message }) => console.error(message)); // recoverable anomalies

  client.status; //         'ready'
  client.server; //         { info, capabilities, instructions, revision }
  client.pending(); //      the calls that are open: requestId, method, name, sinceMs
  client.info(); //         all of it as JSON, for a log
  await client.ping(); //   milliseconds
  // #endregion
  return [client.status, client.server.info?.name, client.pending(), client.info().reconnects];
}
