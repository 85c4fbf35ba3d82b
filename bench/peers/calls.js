// The call that every contender gets: the same tool with the same text, in the revisions that the contender speaks.
import { ask, isWhole, open, runLoad } from '../load/http.js';
import { info, call as modernCall, modernPost, post } from '../request.js';

const revision = '2025-06-18';
const CONNECTIONS = 16;
const { name, arguments: args } = modernCall;
const params = { name, arguments: args };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: revision, capabilities: {}, clientInfo: info },
};
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };

/**
 * The requests of a round over HTTP: calls of 2026-07-28, calls of 2025 without a session, or calls in a session.
 * @param {number} port
 * @param {'modern' | 'plain' | 'session'} kind
 */
export async function requests(port, kind) {
  if (kind === 'modern') return modernPost(port, 'tools/call', modernCall);
  const header = { 'MCP-Protocol-Version': revision, ...(kind === 'session' && (await startSession(port))) };
  return (/** @type {number} */ connection) =>
    post(
      port,
      JSON.stringify({ jsonrpc: '2.0', id: 100 + connection, method: 'tools/call', params }),
      header,
    );
}

async function startSession(port) {
  const socket = await open(port);
  const reply = await ask(socket, post(port, JSON.stringify(initialize)), isWhole);
  const id = /mcp-session-id: (\S+)/i.exec(reply)?.[1];
  if (id === undefined) throw new Error(`No session was opened:\n${reply}`);
  const header = { 'Mcp-Session-Id': id };
  await ask(
    socket,
    post(port, JSON.stringify(initialized), { ...header, 'MCP-Protocol-Version': revision }),
    isWhole,
  );
  socket.destroy();
  return header;
}

/**
 * One round over HTTP: the calls for each second of the server's CPU time.
 * @param {{ port: number, ask: (what: 'cpu') => Promise<NodeJS.CpuUsage> }} program
 * @param {Awaited<ReturnType<typeof requests>>} request
 * @param {number} ms
 */
export async function httpRound({ port, ask: question }, request, ms) {
  const load = { port, request, connections: CONNECTIONS, ms };
  const { answers, before, after } = await runLoad(load, () => question('cpu'));
  return { perCpuSecond: answers / spentSeconds(before, after) };
}

/** A reader of the answers of a process on stdio: counts responses, and forgets notifications. */
export function stdioCalls({ child, ask: question }) {
  let rest = '';
  let waiting = 0;
  let done = () => {};
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (isAnswer(line) && --waiting === 0) done();
  });
  let nextId = 10;

  /** @param {string} text @param {number} answers */
  function send(text, answers) {
    return new Promise((resolve) => {
      waiting = answers;
      done = () => resolve(undefined);
      child.stdin.write(text);
    });
  }

  return {
    /** Shakes hands as a client of 2025 does, and makes the first call. */
    first: async () => {
      await send(`${JSON.stringify(initialize)}\n`, 1);
      const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
      await send(`${JSON.stringify(initialized)}\n${JSON.stringify(message)}\n`, 1);
    },
    /** The calls for each second of CPU time, when `count` are in flight, `times` times. */
    async round(times, count) {
      const before = await question('cpu');
      for (let time = 0; time < times; time++) {
        let text = '';
        for (let sent = 0; sent < count; sent++)
          text += `${JSON.stringify({ jsonrpc: '2.0', id: nextId++, method: 'tools/call', params })}\n`;
        await send(text, count);
      }
      return { perCpuSecond: (times * count) / spentSeconds(before, await question('cpu')) };
    },
  };
}

function isAnswer(line) {
  if (line.trim() === '') return false;
  const message = JSON.parse(line);
  if (message.error !== undefined) throw new Error(`A call failed: ${line}`);
  return message.result !== undefined;
}

function spentSeconds(before, after) {
  return (after.user + after.system - before.user - before.system) / 1e6;
}
