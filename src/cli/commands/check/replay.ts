import { fullmcp } from '../../../client/model/options.js';
import { type InProcess, inProcess } from '../../../index.js';
import { isObject } from '../../../jsonrpc/message.js';
import { shorten } from '../../../protocol/encoding/shorten.js';
import type { ClientCapabilities } from '../../../protocol/model/model.js';
import { nameParam } from '../../../protocol/tables/methods.js';
import { proxy } from '../../../proxy.js';
import type { RecordedCall } from '../../../testing/recording/recording.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { ValueChange } from '../../../tooling/tape/compare-values.js';
import { type Replayed, replayCalls, type TapeReplayOptions } from '../../../tooling/tape/replay-calls.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { duration, WHAT_TARGETS_ARE } from '../../command/parse.js';
import { printDifference } from '../../tape/print-difference.js';
import { readTape } from '../../tape/read-tape.js';
import { connectOptions } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';
import type { Output } from '../../terminal/output.js';

/** `fullmcp replay`. */
export const replay: Command = {
  usage: '<tape> <target>',
  details:
    'Makes the calls of a tape again, in their order, and compares the results. The order of fields, entries of lists, ids and times that are\nnew each time, metadata, notifications and removed secrets make no difference; --strict compares ids and times, too.\nA tool is called only if it says that it only reads (readOnlyHint), in the tape and in the target; a tool that the\ntarget does not list is skipped. --allow sends calls of one more tool, also those through call_tool, and --allow-effects of all. Calls that lack a secret are skipped; --secret gives it. Exits with 1 if something is different.',
  words: [1, 2],
  options: {
    'allow-effects': { type: 'boolean', help: 'also call tools that may change something' },
    allow: { type: 'string', multiple: true, value: 'tool', help: 'one tool that may be called' },
    ignore: {
      type: 'string',
      multiple: true,
      value: 'field',
      help: 'a field that is not compared: a name, or the end of a path such as order.total',
    },
    secret: { type: 'string', multiple: true, value: 'name=value', help: 'the value of a removed field' },
    strict: { type: 'boolean', help: 'also compare ids and times' },
    ...TARGET_OPTIONS,
    against: { type: 'string', help: 'the server to call', now: 'fullmcp replay <tape> <target>' },
  },
  examples: [
    {
      line: 'fullmcp replay shop.tape ./server.ts',
      says: 'Compares the code of today with the traffic of last week.',
    },
    {
      line: 'fullmcp replay shop.tape --allow add_note --ignore rolls -- node build/server.js',
      says: 'Calls one tool that writes, and leaves out a field that is random.',
    },
  ],
  json: '{ ok: boolean, same: number, different: number, skipped: number, calls: { method: string, name?: string, params: object, result: "same" | "different" | "skipped", reason?: string, differences?: { path: string, change: "added" | "removed" | "changed", before?: unknown, after?: unknown }[] }[] }; ok is false if the exit code is 1',
  run: async (input) => {
    const { out } = input;
    const options = optionsOf(input);
    const typed = targetOf(input);
    const recording = await readTape(input.words[0] ?? '');
    const { target } = await takeTarget(typed);
    const { signal, reconnect, timeoutMs, ...connection } = connectOptions(input, target);
    await using server = proxy(target.target, connection);
    const requestAs = (capabilities: ClientCapabilities): InProcess =>
      inProcess(server, { client: fullmcp, capabilities });
    const all: Replayed[] = [];
    out.wait(() => `calling, ${all.length} of ${recording.calls.length}`);
    for await (const replayed of replayCalls(recording, requestAs, options)) {
      all.push(replayed);
      print(replayed, out);
    }
    out.wait();
    const count = (result: Replayed['result']): number => all.filter((one) => one.result === result).length;
    const [same, different, skipped] = [count('same'), count('different'), count('skipped')];
    const answer = { ok: different === 0, same, different, skipped, calls: all.map(answerOf) };
    const summary = `${same} the same, ${different} different, ${skipped} skipped.`;
    if (different > 0) throw new FoundError(summary, answer);
    out.json(answer);
    if (!out.isJson) out.note(summary);
  },
};

function optionsOf(input: Typed): TapeReplayOptions {
  const allowed = new Set(input.texts('allow'));
  const isAllAllowed = input.flag('allow-effects');
  return {
    mayCall: (tool) => isAllAllowed || allowed.has(tool),
    ignore: input.texts('ignore'),
    strict: input.flag('strict'),
    secrets: new Map(input.texts('secret').map(secret)),
    timeoutMs: duration(input, 'timeout') ?? 60_000,
    signal: input.signal,
  };
}

function secret(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError('--secret needs name=value.');
}

/** The target after the tape. */
function targetOf(input: Typed): Typed {
  const [, ...words] = [...input.words, ...input.texts('against')];
  const count = words.length + (input.process ? 1 : 0);
  if (count === 0)
    throw usageError(`<target> is missing: fullmcp replay <tape> <target>\n${WHAT_TARGETS_ARE}`);
  if (count > 1) throw usageError('A tape is replayed with one target: fullmcp replay <tape> <target>');
  return { ...input, words };
}

function answerOf({ call, ...rest }: Replayed): object {
  const { method, params } = call;
  const name = params[nameParam(method) ?? ''];
  return { method, ...(typeof name === 'string' && { name }), params, ...rest };
}

function print(replayed: Replayed, out: Output): void {
  const title = titleOf(replayed.call);
  switch (replayed.result) {
    case 'same':
      return out.styled(`${out.style('green', 'same     ')} ${title}`);
    case 'skipped':
      return out.styled(`${out.style('dim', 'skipped  ')} ${title}  ${out.style('dim', replayed.reason)}`);
    case 'different':
      out.styled(`${out.style('red', 'DIFFERENT')} ${title}`);
      return printDifferences(replayed.differences, out);
  }
}

const MAX_SHOWN = 20;

function printDifferences(differences: readonly ValueChange[], out: Output): void {
  for (const difference of differences.slice(0, MAX_SHOWN)) printDifference(difference, out);
  const more = differences.length - MAX_SHOWN;
  if (more > 0) out.styled(out.style('dim', `    … and ${more} more`));
}

function titleOf({ method, params }: RecordedCall): string {
  const name = params[nameParam(method) ?? ''];
  const args = params['arguments'];
  const words = [
    method,
    ...(typeof name === 'string' ? [name] : []),
    ...(isObject(args) ? [shorten(args, 80)] : []),
    ...(params['inputResponses'] === undefined ? [] : ['(with answers)']),
  ];
  return cleanLine(words.join(' '), 200);
}
