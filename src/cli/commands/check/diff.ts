import { cleanLine } from '../../../tooling/clean.js';
import { compareManifests, type ManifestChange } from '../../../tooling/manifest/manifest-change.js';
import type { Command, Typed } from '../../command/definition.js';
import { FoundError } from '../../command/failures.js';
import { loadManifest } from '../../manifest/load-manifest.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';

/** `fullmcp diff`. */
export const diff: Command = {
  usage: '<before> <after>',
  details:
    'Each of the two is a manifest that `fullmcp manifest` wrote, or a target. A change is breaking if a program that was written for the\nfirst one may fail with the second: a tool or an argument that is gone, a new required argument, fewer values that are accepted, a field\nof a result that is gone. Exits with 1 if there is one.',
  words: [2, 2],
  options: {
    ...TARGET_OPTIONS,
    'fail-on': {
      type: 'string',
      choices: ['any', 'breaking', 'never'],
      help: 'the changes that lead to exit code 1; default: breaking',
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
  ],
  json: '{ ok: boolean, breaking: number, changes: { kind: "server" | "tool" | "resource" | "template" | "prompt", name: string, change: "added" | "removed" | "changed", breaking: boolean, says: string }[] }; ok is false if the exit code is 1',
  run: async (input) => {
    const [before, after] = input.words;
    const changes = compareManifests(await loadManifest(before, input), await loadManifest(after, input));
    const breaking = changes.filter((change) => change.breaking).length;
    print(changes, input.out);
    const isFailed = fails(input, changes.length, breaking);
    const answer = { ok: !isFailed, breaking, changes };
    const summary = `${counted(changes.length, 'change')}, ${breaking} breaking.`;
    if (isFailed) throw new FoundError(summary, answer);
    input.out.json(answer);
    if (!input.out.isJson) input.out.note(changes.length === 0 ? 'No changes.' : summary);
  },
};

function fails(input: Typed, all: number, breaking: number): boolean {
  const failOn = input.text('fail-on') ?? 'breaking';
  return failOn === 'any' ? all > 0 : failOn === 'breaking' && breaking > 0;
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
