import type { Command, Typed } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { DocSearch, type FoundPage } from '../../docs/doc-search.js';
import { type Documentation, ownDocumentation } from '../../docs/documentation.js';
import { markdownStyled } from '../../terminal/markdown.js';
import type { Output } from '../../terminal/output.js';
import { wrapLine } from '../../terminal/wrap.js';
import type { LoadedServer } from '../project/serving/load-server.js';
import {
  LISTEN_OPTIONS,
  listeningOf,
  serveOnNetwork,
  serveOnStdio,
} from '../project/serving/serve-server.js';

const FOUND = 5;
const INDENT = '    ';

/** `fullmcp docs`. */
export const docs: Command = {
  usage: '[page.md | word …]',
  details:
    'The documentation of the installed version comes with the package, so that nothing is fetched. With words or a question, prints the pages\nthat fit best, each with a passage; with the file of a page, that page. Without words it is an MCP server for coding agents, on stdin\nand stdout or with --http: its tools are search_docs, read_docs and find_example, and its resources are the pages. On a terminal, it lists\nthe pages instead.',
  words: [0, Number.POSITIVE_INFINITY],
  options: { ...LISTEN_OPTIONS },
  examples: [
    { line: 'fullmcp docs rate limit per user', says: 'The best pages, each with a passage.' },
    { line: 'fullmcp docs middleware.md', says: 'A page.' },
    { line: 'claude mcp add fullmcp-docs -- npx fullmcp docs', says: 'Gives the server to Claude Code.' },
    { line: 'fullmcp docs --http 8080', says: 'The server at http://localhost:8080/mcp.' },
  ],
  json: '{ ok: true, results: { page: string, title: string, section?: string, about: string, passage: string }[] } for words, { ok: true, page: string, text: string } for a page, { ok: true, pages: { page: string, title: string, section: string, about: string }[] } without; with --http { ok: true, url: string, port: number }',
  async run(input) {
    const { words, out } = input;
    const isServer = input.flag('http') || input.flag('ws');
    if (words.length > 0 && isServer)
      throw usageError('With words, nothing is served. Leave out the words, or --http and --ws.');
    const documentation = ownDocumentation();
    if (words.length > 0) return answer(documentation, input);
    if (!isServer && (out.isJson || isRead(input))) return listPages(documentation, out);
    const listening = listeningOf(input);
    const { docsServer } = await import('../../docs/docs-server.js');
    const server = docsServer(documentation) as LoadedServer;
    if (listening === undefined) await serveOnStdio(server, input.signal);
    else await serveOnNetwork(server, listening, input);
  },
};

/** Whether a person reads stdout, and not a program that speaks the protocol. */
function isRead({ out, person }: Typed): boolean {
  return !out.isPiped && person().isPresent;
}

function answer(documentation: Documentation, { words, out }: Typed): void {
  const [first = ''] = words;
  if (words.length === 1 && first.endsWith('.md')) return printPage(documentation, first, out);
  const query = words.join(' ');
  const found = new DocSearch(documentation).pages(query, FOUND);
  out.json({
    ok: true,
    results: found.map(({ page, part, excerpt }) => ({
      page: page.file,
      title: page.name,
      ...(part.anchor !== '' && { section: part.heading }),
      about: page.sentence,
      passage: excerpt,
    })),
  });
  if (out.isJson) return;
  for (const one of found) printFound(one, out);
  const [best] = found;
  if (best === undefined)
    out.note('Nothing was found. Try other words; `fullmcp docs` alone lists the pages.');
  else out.note(`Read a page: fullmcp docs ${best.page.file}`);
}

function printFound({ page, part, excerpt }: FoundPage, out: Output): void {
  const place = part.anchor === '' ? page.name : `${page.name} › ${part.heading}`;
  out.styled(`${out.style('bold', page.file)}  ${out.style('dim', place)}`);
  const lines = markdownStyled(excerpt, out).split('\n');
  for (const line of lines) out.styled(wrapLine(`${INDENT}${line}`, out.width, INDENT));
  out.value('');
}

function printPage(documentation: Documentation, typed: string, out: Output): void {
  const page = documentation.find(typed);
  if (page === undefined) {
    const close = documentation.closeTo(typed);
    throw usageError(
      `The documentation has no page ${JSON.stringify(typed)}.${close ? ` Did you mean "${close}.md"?` : ''} \`fullmcp docs <words>\` finds pages.`,
    );
  }
  const text = documentation.textOf(page);
  out.json({ ok: true, page: page.file, text });
  if (out.isPiped) out.value(text.trimEnd());
  else out.styled(markdownStyled(text, out));
}

function listPages({ pages }: Documentation, out: Output): void {
  out.json({
    ok: true,
    pages: pages.map(({ file, name, section, sentence }) => ({
      page: file,
      title: name,
      section,
      about: sentence,
    })),
  });
  if (out.isJson) return;
  const width = Math.min(34, Math.max(...pages.map(({ file }) => file.length)) + 2);
  let last = '';
  for (const { file, name, section } of pages) {
    if (section !== last) out.styled(`${last === '' ? '' : '\n'}${out.style('bold', section)}`);
    last = section;
    out.styled(`  ${out.style('cyan', file.padEnd(width))}${out.style('dim', name)}`);
  }
  out.note(
    '\nSearch: fullmcp docs <words>. Read a page: fullmcp docs <file>. For a coding agent: fullmcp docs for-agents.md',
  );
}
