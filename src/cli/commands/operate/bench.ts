import type { Client } from '../../../client/model/client.js';
import { resolveTarget } from '../../../connect/targets/target.js';
import type { JsonObject } from '../../../jsonrpc/message.js';
import { isLoopbackUrl } from '../../../oauth/fetch/check-url.js';
import { cleanLine } from '../../../tooling/clean.js';
import { ARGUMENT_OPTIONS, checkArguments, findTool } from '../../arguments/check-arguments.js';
import { readArguments } from '../../arguments/read-arguments.js';
import type { Command, Typed } from '../../command/definition.js';
import { CommandError, usageError } from '../../command/failures.js';
import { duration, wholeNumber } from '../../command/parse.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';
import { wrapItems } from '../../terminal/wrap.js';
import { type Load, type Measured, measure, percentile, rounded, type SendOne } from './measure.js';

const MAX_REQUESTS = 100_000;
const MAX_CONCURRENCY = 100;
const MAX_DURATION_MS = 600_000;

/** `fullmcp bench`. */
export const bench: Command = {
  usage: '<target> [tool] [name=value …]',
  details:
    'Sends many requests over one connection and prints their times: calls of the tool, or pings if none is named. It ends after --requests\nor --duration, whichever comes first; requests that are open then are cancelled and do not count. It puts load on the server, and the tool\nruns as often as it is called: a server on another computer needs --yes.',
  words: [1, Number.POSITIVE_INFINITY],
  options: {
    ...TARGET_OPTIONS,
    requests: {
      type: 'string',
      value: 'n',
      help: `the number of requests, 1 to ${MAX_REQUESTS}; default 100`,
    },
    concurrency: {
      type: 'string',
      value: 'n',
      help: `requests at the same time, 1 to ${MAX_CONCURRENCY}; default 1`,
    },
    duration: { type: 'string', value: 'time', help: 'the longest time, up to 10m; default 30s' },
    ...ARGUMENT_OPTIONS,
    yes: { type: 'boolean', short: 'y', help: 'also put load on another computer' },
  },
  examples: [
    { line: 'fullmcp bench http://localhost:3000/mcp', says: 'A hundred pings, one after the other.' },
    {
      line: 'fullmcp bench http://localhost:3000/mcp add a=2 b=40 --requests 1000 --concurrency 8',
      says: 'A thousand calls of a tool, eight at a time.',
    },
  ],
  json: '{ ok: true, tool?: string, requests: number, failed: number, failures: Record<string, number>, seconds: number, perSecond: number, ms: { min, mean, p50, p90, p95, p99, max: number } }; failures are counted by their codes. If all requests failed, the same fields are in error',
  async run(input) {
    const load = readLoad(input);
    await refuseOthers(input);
    await withTarget(
      input,
      async ({ client, words }) => {
        const [tool, ...rest] = words;
        const send = tool === undefined ? pings(client) : await calls(client, tool, rest, input);
        if (!input.out.isJson) input.out.note(loadNote(load, tool));
        let sent = 0;
        input.out.wait(
          () => `sending ${tool === undefined ? 'pings' : `calls of ${tool}`}, ${sent} of ${load.requests}`,
        );
        const counted: SendOne = (signal) => send(signal).finally(() => sent++);
        const measured = await measure(load, counted);
        input.out.wait();
        report(input, tool, measured);
      },
      { cache: false, maxRetries: 0 },
    );
  },
};

function readLoad(input: Typed): Load {
  const longestMs = duration(input, 'duration') ?? 30_000;
  if (longestMs > MAX_DURATION_MS) throw usageError('--duration must be at most 10m.');
  return {
    requests: wholeNumber(input, 'requests', [1, MAX_REQUESTS]) ?? 100,
    concurrency: wholeNumber(input, 'concurrency', [1, MAX_CONCURRENCY]) ?? 1,
    longestMs,
    signal: input.signal,
  };
}

/** Nothing is sent to another computer unless the user has said so. */
async function refuseOthers(input: Typed): Promise<void> {
  const { target } = await takeTarget(input);
  const resolved = resolveTarget(target.target);
  if (input.flag('yes')) return;
  if (resolved.kind === 'service')
    throw usageError(
      'The service may be on another computer. Nothing was sent. Add --yes if you may put load on it.',
    );
  if ((resolved.kind !== 'http' && resolved.kind !== 'websocket') || isLoopbackUrl(resolved.url)) return;
  throw usageError(
    `${resolved.url.host} is not this computer. Nothing was sent. Add --yes if you may put load on it.`,
  );
}

function loadNote({ requests, concurrency, longestMs }: Load, tool: string | undefined): string {
  const what = tool === undefined ? 'pings' : `calls of ${cleanLine(tool, 128)}`;
  return `Sending up to ${requests} ${what}, ${concurrency} at a time, for at most ${longestMs / 1000} s.`;
}

function pings(client: Client): SendOne {
  return async (signal) => {
    await client.ping({ signal });
    return undefined;
  };
}

async function calls(client: Client, name: string, words: readonly string[], input: Typed): Promise<SendOne> {
  const tool = await findTool(client, name);
  const args: JsonObject = readArguments(words, tool.inputSchema);
  checkArguments(tool, args, input.flag('allow-unknown'));
  if (tool.annotations?.readOnlyHint !== true && !input.out.isJson)
    input.out.note(`${cleanLine(name, 128)} is not marked as read-only: each call may change something.`);
  return async (signal) => {
    const result = await client.callTool(name, args, { signal });
    return result.isError === true ? result.text : undefined;
  };
}

function report({ out }: Typed, tool: string | undefined, measured: Measured): void {
  const { times, failures, firstFailure, seconds } = measured;
  if (times.length === 0)
    throw new CommandError('timeout', 'No request ended in time. Give it a longer --duration.');
  const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const ms = {
    min: percentile(times, 0),
    mean: rounded(mean),
    p50: percentile(times, 0.5),
    p90: percentile(times, 0.9),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    max: percentile(times, 1),
  };
  const answer = {
    ...(tool !== undefined && { tool }),
    requests: times.length,
    failed,
    failures: Object.fromEntries(failures),
    seconds: rounded(seconds),
    perSecond: rounded(times.length / seconds),
    ms,
  };
  const reason = cleanLine(firstFailure ?? '', 200);
  if (failed === times.length)
    throw new CommandError('failed', `All ${failed} requests failed. The first one: ${reason}`, answer);
  out.json({ ok: true, ...answer });
  out.value(
    `${times.length} requests in ${answer.seconds} s, ${answer.perSecond.toFixed(1)} per second, ${failed} failed`,
  );
  const items = Object.entries(ms).map(([name, value]) => `${name} ${value.toFixed(2)} ms`);
  out.value(wrapItems(items, out.width));
  if (failed > 0 && !out.isJson) out.note(`The first failure: ${reason}`);
}
