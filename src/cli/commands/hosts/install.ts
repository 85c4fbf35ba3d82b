import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { hiddenEscaped } from '../../hosts/formats/format.js';
import type { Host } from '../../hosts/hosts.js';
import { masked, maskedLine } from '../../hosts/mask.js';
import type { HostServer } from '../../hosts/shapes.js';
import { mcpServers } from '../../hosts/shapes.js';
import { changeFile, FILE_OPTIONS, hostNamed } from '../../hosts/target-file.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { installedServer, type NamedServer } from './installed-server.js';

/** The options of a target that a host can be told. */
const told = Object.fromEntries(
  Object.entries(TARGET_OPTIONS).filter(([name]) => ['header', 'env', 'cwd', 'config'].includes(name)),
);

/** `fullmcp install`. */
export const install: Command = {
  usage: '<host> <target>',
  details:
    'The hosts: claude-desktop, claude-code, cursor, vscode, windsurf, gemini-cli, codex, goose, opencode; json prints the form that most\nothers read. The change is shown first. Comments, order and unknown fields stay, and the file as it was is kept beside it (.fullmcp.bak).\nAn address for a host that only starts programs is reached through `fullmcp proxy`.',
  words: [2, 2],
  options: {
    name: { type: 'string', value: 'name', help: 'the name of the server in the host' },
    ...told,
    ...FILE_OPTIONS,
  },
  examples: [
    { line: 'fullmcp install claude-desktop ./server.ts', says: 'Shows the change and asks.' },
    {
      line: 'fullmcp install cursor https://example.com/mcp --name shop --scope project --yes',
      says: 'Into .cursor/mcp.json of this folder, without a question.',
    },
    {
      line: 'fullmcp install codex --env TOKEN=abc -- npx -y @modelcontextprotocol/server-everything',
      says: 'A command, with a variable.',
    },
  ],
  json: '{ ok: true, host: string, name: string, file?: string, changed: boolean, backup?: string, replaced?: { … }, server: { command?, args?, env?, cwd?, url?, headers? } }; the values of env and headers are masked, except for json, which has the whole config as mcpServers',
  async run(input) {
    const [hostName = ''] = input.words;
    if (hostName === 'json') return print(await installedServer(input, false), input.out);
    const host = hostNamed(hostName);
    const isShared = input.text('scope') === 'project';
    const { name, server: wanted, needs } = await installedServer(input, isShared);
    const server = reachable(host, wanted);
    const fields = host.shape.write(server, name);
    const change = await changeFile(
      host,
      input,
      (text) =>
        host.format.write(text, { section: host.section(text), name, fields, managed: host.shape.managed }),
      { name, server },
    );
    input.out.json({ ok: true, host: hostName, name, ...change, server: masked(server) });
    const { changed, replaced } = change;
    const restart = `Restart ${host.title} if it is running.`;
    if (changed && replaced)
      input.out.note(`${name} was replaced in ${host.title}; before: ${maskedLine(replaced)}\n${restart}`);
    else if (changed) input.out.note(`${name} is installed. ${restart}`);
    else if (!input.flag('dry-run')) input.out.note(`${host.title} already has ${name} like this.`);
    if (changed && needs !== undefined)
      input.out.note(
        `${host.title} starts it with the fullmcp in ${needs}: keep that folder. Or add fullmcp to the project of the server and install it again.`,
      );
  },
};

/** A host that only starts programs gets one that connects to the address. */
function reachable({ isLocalOnly, title }: Host, server: HostServer): HostServer {
  if (server.url === undefined || isLocalOnly !== true) return server;
  const headers = Object.entries(server.headers ?? {});
  if (headers.some(([, value]) => /[\r\n]/.test(value)))
    throw usageError(`${title} cannot send a header with line breaks.`);
  const more = headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  return { command: 'npx', args: ['-y', 'fullmcp', 'proxy', server.url, ...more] };
}

/** The form that most programs read. This is the answer itself, so nothing in it is masked. */
function print({ name, server }: NamedServer, out: Parameters<Command['run']>[0]['out']): void {
  const mcp = { mcpServers: { [name]: mcpServers({}).write(server, name) } };
  out.value(hiddenEscaped(JSON.stringify(mcp, undefined, 2)));
  out.json({ ok: true, host: 'json', name, changed: false, ...mcp });
}
