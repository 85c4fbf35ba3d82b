import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { serve } from '../../../node.js';
import { type ProxyServer, proxy } from '../../../proxy.js';
import { serveStdio } from '../../../stdio.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { recordCalls, type TapeRecorder } from '../../tape/record-calls.js';
import { TapeFile } from '../../tape/tape-file.js';
import { targetSecrets } from '../../tape/target-secrets.js';
import { connectOptions } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';

/** `fullmcp record`. */
export const record: Command = {
  usage: '<target> -o <tape> [-- command …]',
  details:
    'Serves the target again, on stdin and stdout or with --http, and writes all calls, notifications and results that pass to a tape. Or runs\none command of fullmcp with the target: its words follow `--`, without the target. `fullmcp replay` runs a tape against new code, and\n`replay` of fullmcp/testing answers from it.\nSecrets are left out: credentials of the connection, fields with names such as password, token or cookie, fields that a schema marks with\nformat: password, writeOnly or x-secret, tokens in text, and each of these values wherever else it appears. Headers and _meta of requests\nare not recorded. Look through a tape before you share it: a secret that nothing marks cannot be recognized.',
  words: [1, 2],
  options: {
    output: { type: 'string', short: 'o', value: 'tape', help: 'the file for the tape' },
    force: { type: 'boolean', help: 'overwrite the file' },
    http: { type: 'boolean', help: 'listen for HTTP, instead of serving on stdin and stdout' },
    port: { type: 'string', short: 'p', value: 'n', help: 'the port; default: a free one' },
    redact: {
      type: 'string',
      multiple: true,
      value: 'name',
      help: 'one more field whose values are secrets',
    },
    ...TARGET_OPTIONS,
  },
  examples: [
    {
      line: 'fullmcp record ./server.ts -o shop.tape -- call add a=2 b=40',
      says: 'Records one command, which prints its answer as always.',
    },
    {
      line: 'fullmcp record https://example.com/mcp -o shop.tape --http --port 4000',
      says: 'Records everything that clients of http://localhost:4000/mcp do, until Ctrl+C.',
    },
    {
      line: 'fullmcp record -o shop.tape -- node server.js',
      says: 'On stdin and stdout, for a host; without a target before it, `--` begins the command of the server.',
    },
  ],
  json: '{ ok: true, url: string, tape: string }, once it listens with --http; of a command after `--`, its own answer',
  run: async (input) => {
    const isLine = input.process !== undefined && input.words.length > 0;
    const port = portOf(input, isLine);
    const path = input.text('output');
    if (path === undefined) throw usageError('Say where the tape goes: -o shop.tape');
    const { target } = await takeTarget(isLine ? { ...input, process: undefined } : input);
    const { signal, reconnect, timeoutMs, ...options } = connectOptions(input, target);
    const tape = new TapeFile(path, {
      force: input.flag('force'),
      onProblem: (message) => input.out.note(message),
    });
    try {
      const secrets = targetSecrets(input, target, options);
      const recorded = recordCalls(tape, { redact: input.texts('redact'), secrets });
      await using server = proxy(target.target, { ...options, use: [recorded.record] });
      if (isLine) await runLine(server, input);
      else if (input.flag('http')) await serveHttp(server, port, path, input);
      else await serveStandard(server, input);
      input.out.note(`${countOf(recorded)} in ${path}`);
    } finally {
      tape.close();
    }
    if (tape.problem !== undefined) throw new CommandError('failed', 'The tape is not complete.');
  },
};

/** The calls, and apart from them the requests for lists, which a client sends by itself. */
function countOf({ calls, requests }: TapeRecorder): string {
  const others = requests - calls;
  const other = calls === 0 ? '' : 'other ';
  const rest = `${others} ${other}${others === 1 ? 'request' : 'requests'}`;
  if (calls === 0) return rest;
  const made = `${calls} ${calls === 1 ? 'call' : 'calls'}`;
  return others === 0 ? made : `${made} and ${rest}`;
}

function portOf(input: Typed, isLine: boolean): number {
  const port = wholeNumber(input, 'port', [0, 65_535]);
  if (isLine && input.flag('http'))
    throw usageError('--http serves, and a command after the target does not.');
  if (port !== undefined && !input.flag('http')) throw usageError('--port needs --http.');
  if (input.out.isJson && !input.flag('http') && !isLine)
    throw usageError('--json needs --http, or a command after `--`: stdout carries the protocol.');
  return port ?? 0;
}

/** Runs one command against the recording proxy, whose address nobody else can guess. */
async function runLine(server: ProxyServer, input: Typed): Promise<void> {
  const path = `/${randomUUID()}`;
  await using serving = await serve(server, { ...LOCAL, port: 0, path });
  await input.runLine(input.process ?? [], serving.url);
}

async function serveHttp(server: ProxyServer, port: number, tape: string, input: Typed): Promise<void> {
  const { out, signal } = input;
  await using serving = await serve(server, { ...LOCAL, port });
  out.json({ ok: true, url: serving.url, tape });
  out.value(serving.url);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    process.once('SIGTERM', resolve);
  });
}

async function serveStandard(server: ProxyServer, { signal }: Typed): Promise<void> {
  const serving = serveStdio(server, { exit: false });
  signal.addEventListener('abort', () => void serving.close(), { once: true });
  await serving.closed;
}

const LOCAL = { host: '127.0.0.1', websocket: false, signals: false, exit: false } as const;
