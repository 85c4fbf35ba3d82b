import { closestName } from '../../../schema/explain/closest-name.js';
import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { readConfigText } from '../../hosts/config-file.js';
import { changeFile, FILE_OPTIONS, fileOf, hostNamed } from '../../hosts/target-file.js';

/** `fullmcp uninstall`. */
export const uninstall: Command = {
  usage: '<host> <name>',
  words: [2, 2],
  options: FILE_OPTIONS,
  examples: [
    {
      line: 'fullmcp uninstall cursor shop',
      says: 'Shows the change, asks, and keeps the file as it was beside it (.fullmcp.bak).',
    },
  ],
  json: '{ ok: true, host: string, name: string, file: string, changed: boolean, backup?: string }',
  async run(input) {
    const [hostName = '', name = ''] = input.words;
    const host = hostNamed(hostName);
    const file = fileOf(host, input);
    const change = await changeFile(host, input, (text) => {
      const section = host.section(text);
      const names = [...host.format.read(text, section).keys()];
      if (!names.includes(name)) throw usageError(missing(name, names));
      return host.format.remove(text, section, name);
    });
    input.out.json({ ok: true, host: hostName, name, ...change });
    if (change.changed) input.out.note(`${name} is removed from ${host.title}.`);
    else if (!input.flag('dry-run') && (await readConfigText(file)) === undefined)
      throw usageError(`${host.title} has no file ${file}.`);
  },
};

function missing(name: string, names: readonly string[]): string {
  const close = closestName(name, names);
  return `it has no server ${JSON.stringify(name)}${close ? `, but ${JSON.stringify(close)}` : ''}`;
}
