import type { Client } from '../../../client/model/client.js';
import type { ListedTool } from '../../../protocol/model/model.js';
import { closestName } from '../../../schema/explain/closest-name.js';
import { cleanLine } from '../../../tooling/clean.js';
import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import type { Output } from '../../terminal/output.js';
import { parameters, typeOf } from '../../terminal/signature.js';
import { cutToWidth } from '../../terminal/text-width.js';
import { wrapParts } from '../../terminal/wrap.js';

const KINDS = ['tools', 'resources', 'templates', 'prompts'] as const;
type Kind = (typeof KINDS)[number];
const MAX_LINE = 100_000;

/** `fullmcp list`. */
export const list: Command = {
  usage: '<target> [tools | resources | templates | prompts]',
  words: [1, 2],
  options: { ...TARGET_OPTIONS, long: { type: 'boolean', short: 'l', help: 'print descriptions in full' } },
  examples: [
    {
      line: 'fullmcp list http://localhost:3000/mcp',
      says: 'Everything that it offers, with the parameters of tools.',
    },
    { line: 'fullmcp list ./server.ts tools', says: 'Starts a file and lists its tools.' },
    { line: 'fullmcp list -- npx -y @modelcontextprotocol/server-everything', says: 'Starts a command.' },
  ],
  json: '{ ok: true, tools?: Tool[], resources?: Resource[], templates?: ResourceTemplate[], prompts?: Prompt[] }, as in the protocol',
  run: (input) =>
    withTarget(input, async ({ client, words }) => {
      const started = performance.now();
      const lists = await fetchLists(client, kindsOf(words));
      const ms = performance.now() - started;
      input.out.json({ ok: true, ...lists });
      if (input.out.isJson) return;
      const about = summary(client, lists, ms);
      if (input.out.isPipedOnTerminal) input.out.note(about);
      print(lists, input);
      if (!input.out.isPipedOnTerminal) input.out.note(about);
    }),
};

type Lists = Partial<Record<Kind, readonly Item[]>>;
interface Item {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly uri?: string;
  readonly uriTemplate?: string;
}

function kindsOf([kind]: readonly string[]): readonly Kind[] {
  if (kind === undefined) return KINDS;
  const found = KINDS.find((one) => one === kind);
  if (found) return [found];
  const close = closestName(kind, KINDS);
  throw usageError(
    `A server has ${KINDS.join(', ')}, but no ${JSON.stringify(kind)}.${close ? ` Did you mean ${close}?` : ''}`,
  );
}

async function fetchLists(client: Client, kinds: readonly Kind[]): Promise<Lists> {
  const { capabilities } = client.server;
  const fetched = await Promise.all(
    kinds.map(async (kind) => {
      const isOffered = capabilities[kind === 'templates' ? 'resources' : kind] !== undefined;
      return [kind, isOffered ? await client[kind]().all() : []] as const;
    }),
  );
  return Object.fromEntries(fetched) as Lists;
}

function print(lists: Lists, { out, flag }: Typed): void {
  const isLong = flag('long');
  for (const tool of lists.tools ?? []) {
    out.styled(wrapParts(signature(tool as ListedTool, out), out.width, '  '));
    describe(tool, isLong, out);
  }
  for (const resource of [...(lists.resources ?? []), ...(lists.templates ?? [])]) {
    out.styled(out.style('cyan', cleanLine(resource.uri ?? resource.uriTemplate ?? resource.name, 300)));
    describe(resource, isLong, out);
  }
  for (const prompt of lists.prompts ?? []) {
    const { arguments: args = [] } = prompt as {
      arguments?: readonly { name: string; required?: boolean }[];
    };
    const names = args.map(({ name, required }) => `${cleanLine(name, 64)}${required ? '' : '?'}`).join(', ');
    const line = `${out.style('dim', 'prompt ')}${out.style('bold', cleanLine(prompt.name, 128))}(${names})`;
    out.styled(wrapParts(line, out.width, '  '));
    describe(prompt, isLong, out);
  }
}

/** A tool on one line, as one would write its call. */
export function signature(tool: ListedTool, out: Output): string {
  const result = tool.outputSchema
    ? out.style('dim', ` → ${typeOf(tool.outputSchema, tool.outputSchema)}`)
    : '';
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const mark = readOnlyHint ? '  read-only' : destructiveHint ? '  destructive' : '';
  return `${out.style('bold', cleanLine(tool.name, 128))}(${parameters(tool.inputSchema)})${result}${out.style('yellow', mark)}`;
}

/** Prints the description of something that is listed, below its line. */
export function describe(
  { title, description }: Pick<Item, 'title' | 'description'>,
  isLong: boolean,
  out: Output,
): void {
  const text = description ?? title;
  if (!text) return;
  if (isLong) out.value(long(text, out));
  else out.styled(out.style('dim', `    ${oneLine(text, out)}`));
}

/** A description on one line: cut at the edge of a terminal, and whole for another program. */
function oneLine(text: string, out: Output): string {
  if (out.isPiped) return cleanLine(text, MAX_LINE);
  const room = Math.max(16, out.columns - 6);
  return cutToWidth(cleanLine(text, room), room);
}

/** A description in full, with its own line breaks. */
function long(text: string, out: Output): string {
  const lines = text.split('\n').map((line) => `    ${line}`);
  return lines.map((line) => (out.isPiped ? line : wrapParts(line, out.width, '    '))).join('\n');
}

function summary({ server: { info, revision } }: Client, lists: Lists, ms: number): string {
  const counts = Object.entries(lists)
    .filter(([, items]) => items.length > 0)
    .map(([kind, items]) => `${items.length} ${items.length === 1 ? kind.slice(0, -1) : kind}`);
  const name = info
    ? `${cleanLine(info.name, 60)} ${cleanLine(info.version, 30)}`
    : 'a server without a name';
  return [name, `MCP ${revision}`, counts.join(', ') || 'nothing is offered', `${ms.toFixed(0)} ms`].join(
    ' · ',
  );
}
