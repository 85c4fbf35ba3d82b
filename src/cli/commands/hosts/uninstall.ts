import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Command } from '../../command/definition.js';
import { changeFile, FILE_OPTIONS, hostNamed } from '../../hosts/target-file.js';

/** `fullmcp uninstall`. */
export const uninstall: Command = {
  usage: '<host> <name>',
  details:
    'A server that the host does not have is not an error: there is nothing to remove, and the file stays as it is.',
  words: [2, 2],
  options: FILE_OPTIONS,
  examples: [
    {
      line: 'fullmcp uninstall cursor shop',
      says: 'Shows the change, asks, and keeps the file as it was beside it (.fullmcp.bak).',
    },
  ],
  json: '{ ok: true, host: string, name: string, file: string, changed: boolean, backup?: string }; changed is false if the host does not have it',
  async run(input) {
    const [hostName = '', name = ''] = input.words;
    const host = hostNamed(hostName);
    let names: readonly string[] = [];
    const change = await changeFile(host, input, (text) => {
      const section = host.section(text);
      names = [...host.format.read(text, section).keys()];
      return names.includes(name) ? host.format.remove(text, section, name) : text;
    });
    input.out.json({ ok: true, host: hostName, name, ...change });
    if (input.out.isJson) return;
    if (change.changed) input.out.note(`${name} is removed from ${host.title}.`);
    else if (!names.includes(name)) input.out.note(nothing(host.title, name, names));
  },
};

function nothing(host: string, name: string, names: readonly string[]): string {
  const close = closestName(name, names);
  const hint = close === undefined ? '' : ` Did you mean ${JSON.stringify(cleanLine(close, 64))}?`;
  return `${host} has no server ${JSON.stringify(name)}, so there is nothing to remove.${hint}`;
}
