import { cleanLine } from '../../../tooling/clean.js';
import { type BrokenCaller, BrokenCallers } from '../../../tooling/manifest/broken-callers.js';
import type { Manifest } from '../../../tooling/manifest/manifest.js';
import { compareManifests, type ManifestChange } from '../../../tooling/manifest/manifest-change.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError, usageError } from '../../command/failures.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { recordedUses } from '../../manifest/recorded-uses.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';

/** `fullmcp diff`. */
export const diff: Command = {
  usage: '<before> <after>',
  details:
    'Each of the two is a manifest that `fullmcp manifest` wrote, or a target. A change is breaking if a program that was written for the\nfirst one may fail with the second: a tool or an argument that is gone, a new required argument, fewer values that are accepted, a field\nof a result that is gone. It is not, if the second one still answers with the version of the tool that the first one had, listed or not.\nExits with 1 if there is one. --calls reads the calls of a tape or an audit log, and names the callers that would break.',
  words: [2, 2],
  options: {
    ...TARGET_OPTIONS,
    'fail-on': {
      type: 'string',
      choices: ['any', 'breaking', 'callers', 'never'],
      help: 'the changes that lead to exit code 1; default: breaking. callers: only those that break a call of --calls',
    },
    calls: {
      type: 'string',
      multiple: true,
      value: 'file',
      help: 'a tape of fullmcp record, or an audit log, with calls of the first one',
    },
  },
  examples: [
    {
      line: 'fullmcp diff server.manifest.json ./server.ts',
      says: 'Compares a saved manifest with the code of today.',
    },
    {
      line: 'fullmcp diff https://example.com/mcp http://localhost:3000/mcp',
      says: 'Compares what is deployed with what comes next.',
    },
    {
      line: 'fullmcp diff server.manifest.json -- npx -y @acme/server',
      says: 'The second one is started by a command.',
    },
    {
      line: 'fullmcp diff https://example.com/mcp ./server.ts --calls audit.jsonl --fail-on callers',
      says: 'Says before a deploy whose calls would break.',
    },
  ],
  json: '{ ok: boolean, breaking: number, changes: { kind: "server" | "tool" | "resource" | "template" | "prompt", name: string, change: "added" | "removed" | "changed", breaking: boolean, says: string }[], callers: { tool: string, caller?: string, client?: string, calls: number, last?: string, says: string }[] }; ok is false if the exit code is 1',
  run: async (input) => {
    if (input.text('fail-on') === 'callers' && input.texts('calls').length === 0)
      throw usageError('--fail-on callers needs the calls: --calls <file>.');
    const before = await loadManifest(input.words[0], input);
    const after = await loadManifest(input.words[1], input);
    const changes = compareManifests(before, after);
    const breaking = changes.filter((change) => change.breaking).length;
    const callers = await brokenCallers(input, before, after);
    print(changes, input.out);
    printCallers(callers, input.out);
    const isFailed = fails(input, { all: changes.length, breaking, callers: callers.length });
    const answer = { ok: !isFailed, breaking, changes, callers };
    const counts = [counted(changes.length, 'change'), `${breaking} breaking`];
    if (input.texts('calls').length > 0) counts.push(`${counted(callers.length, 'caller')} would break`);
    const summary = `${counts.join(', ')}.`;
    if (isFailed) throw new FoundError(summary, answer);
    input.out.json(answer);
    if (!input.out.isJson) input.out.note(changes.length === 0 ? 'No changes.' : summary);
  },
};

interface Counts {
  readonly all: number;
  readonly breaking: number;
  readonly callers: number;
}

function fails(input: Typed, { all, breaking, callers }: Counts): boolean {
  switch (input.text('fail-on')) {
    case 'any':
      return all > 0;
    case 'callers':
      return callers > 0;
    case 'never':
      return false;
    default:
      return breaking > 0;
  }
}

async function brokenCallers(
  input: Typed,
  before: Manifest,
  after: Manifest,
): Promise<readonly BrokenCaller[]> {
  const callers = new BrokenCallers(before, after);
  for (const file of input.texts('calls')) for await (const use of recordedUses(file)) await callers.add(use);
  return callers.broken;
}

function printCallers(callers: readonly BrokenCaller[], out: Output): void {
  for (const { tool, caller = 'somebody', client, calls, last, says } of callers) {
    const mark = out.style('red', 'BREAKS  ');
    const by = client === undefined ? caller : `${caller} with ${client}`;
    const when = last === undefined ? '' : `, the last one at ${last}`;
    const line = `${mark}   ${out.style('bold', tool)} for ${by}  ${out.style('dim', `${counted(calls, 'call')}${when}: ${says}`)}`;
    out.styled(wrapLine(line, out.width, ' '.repeat(11)));
  }
}

function print(changes: readonly ManifestChange[], out: Output): void {
  const marks = { added: '+', removed: '-', changed: '~' } as const;
  for (const { kind, name, change, breaking, says } of changes) {
    const mark = breaking ? out.style('red', 'BREAKING') : out.style('dim', '        ');
    const subject = `${kind} ${out.style('bold', cleanLine(name, 128))}`;
    const line = `${mark} ${marks[change]} ${subject}  ${out.style('dim', says)}`;
    out.styled(wrapLine(line, out.width, ' '.repeat(11)));
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
