import { cleanLine, shellWord } from '../../../tooling/clean.js';
import type { Command } from '../../command/definition.js';
import { type HostFile, hostFiles } from '../../hosts/host-servers.js';
import { masked } from '../../hosts/mask.js';
import type { HostServer } from '../../hosts/shapes.js';
import { hostNamed } from '../../hosts/target-file.js';
import { wrapLine } from '../../terminal/wrap.js';

const MAX_LINE = 2000;

/** `fullmcp discover`. */
export const discover: Command = {
  usage: '[host]',
  details:
    'The servers of this folder come first. Each can be used by its name in every command. Values of variables and headers are never printed.',
  words: [0, 1],
  options: {},
  examples: [
    { line: 'fullmcp discover', says: 'The servers of all hosts.' },
    { line: 'fullmcp discover cursor --json', says: 'Those of one host, for a program.' },
  ],
  json: '{ ok: true, files: { host: string, scope: "project" | "local" | "user", file: string, problem?: string, servers: { name: string, command?, args?, env?, cwd?, url?, headers?, disabled? }[] }[] }; values of env and headers are masked',
  async run(input) {
    const [only] = input.words;
    if (only !== undefined) hostNamed(only);
    const files = await hostFiles(only);
    input.out.json({ ok: true, files: files.map(asJson) });
    for (const { host, scope, file, servers, problem } of files) {
      if (problem !== undefined)
        input.out.note(
          problem.startsWith(file) ? `${host}: ${problem}` : `${file} of ${host} cannot be read: ${problem}`,
        );
      if (servers.size === 0) continue;
      input.out.styled(`${input.out.style('bold', host)} ${input.out.style('dim', `${scope} ${file}`)}`);
      for (const [name, server] of servers)
        input.out.styled(
          wrapLine(
            `  ${input.out.style('cyan', cleanLine(name, 64))}  ${cleanLine(line(server), MAX_LINE)}`,
            input.out.width,
            '    ',
          ),
        );
    }
    if (files.every(({ servers }) => servers.size === 0)) input.out.note('No host has a server.');
  },
};

function asJson({ servers, ...file }: HostFile): object {
  return { ...file, servers: [...servers].map(([name, server]) => ({ name, ...masked(server) })) };
}

function line(server: HostServer): string {
  const { command = '', args = [], url, disabled } = masked(server);
  return `${url ?? [command, ...args].map(shellWord).join(' ')}${disabled ? '  (disabled)' : ''}`;
}
