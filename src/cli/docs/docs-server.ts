// An MCP server over the documentation, for coding agents: they search it, read pages, and find examples, all of the installed version.

import { fullmcp } from '../../client/model/options.js';
import {
  createServer,
  jsonSchema,
  resource,
  type Server,
  type StandardJsonSchema,
  ToolError,
  tool,
} from '../../index.js';
import { DocSearch, MAX_FOUND, MAX_QUERY } from './doc-search.js';
import { type DocPage, type Documentation, MAX_NAME } from './documentation.js';

/** The most characters of a page that one call returns. */
const MAX_READ = 20_000;
/** The most characters of all examples that one call returns. */
const MAX_EXAMPLES = 24_000;
const PAGE_URI = 'docs://fullmcp/';

const INSTRUCTIONS = `The documentation of fullmcp ${fullmcp.version}, the version that is installed here. Search it before you write code with fullmcp: the API differs from other libraries for MCP, and from other versions. search_docs finds pages, read_docs reads one, find_example returns code that is tested.`;

interface Search {
  readonly query: string;
  readonly limit?: number;
}

interface Reading {
  readonly page: string;
  readonly section?: string;
  readonly start?: number;
}

/** Makes the server. The index is made with the first search. */
export function docsServer(documentation: Documentation): Server {
  let made: DocSearch | undefined;
  const search = (): DocSearch => (made ??= new DocSearch(documentation));
  const annotations = { readOnly: true, openWorld: false } as const;
  return createServer({
    name: 'fullmcp-docs',
    version: fullmcp.version,
    instructions: INSTRUCTIONS,
    tools: {
      search_docs: tool({
        title: 'Search the documentation',
        description:
          'Finds the pages of the documentation of fullmcp that fit words, a question or an error message. Returns each page with its best section and a passage, the best page first. Read a page with read_docs.',
        annotations,
        input: searchSchema('The number of pages to return. Default: 5', 5),
        run: ({ query, limit = 5 }) => {
          const results = search()
            .pages(query, limit)
            .map(({ page, part, excerpt }) => ({
              page: page.file,
              title: page.name,
              about: page.sentence,
              section: part.anchor === '' ? undefined : part.heading,
              passage: excerpt,
            }));
          return results.length > 0 ? { results } : { results, hint: 'Nothing was found. Try other words.' };
        },
      }),
      read_docs: tool({
        title: 'Read a page',
        description: `Reads a page of the documentation of fullmcp, or one section of it, as Markdown: at most ${MAX_READ} characters, from "start" on.`,
        annotations,
        input: jsonSchema<Reading>({
          type: 'object',
          properties: {
            page: {
              type: 'string',
              minLength: 1,
              maxLength: MAX_NAME,
              description: 'The file of the page, as search_docs returns it, such as tasks.md or cli/run.md',
            },
            section: {
              type: 'string',
              maxLength: MAX_NAME,
              description: 'The heading of a section, or its anchor. Default: the whole page',
            },
            start: {
              type: 'integer',
              minimum: 0,
              description: 'The number of characters to skip. Default: 0',
            },
          },
          required: ['page'],
          additionalProperties: false,
        }),
        run: (reading) => read(documentation, reading),
      }),
      find_example: tool({
        title: 'Find an example',
        description:
          'Finds blocks of code in the documentation of fullmcp that fit words or a question. The code is compiled and run by the tests of fullmcp.',
        annotations,
        input: searchSchema('The number of examples to return. Default: 3', 3),
        run: ({ query, limit = 3 }) => {
          const parts: string[] = [];
          let room = MAX_EXAMPLES;
          for (const { part, language, code } of search().examples(query, limit)) {
            const place = part.anchor === '' ? part.page.file : `${part.page.file}#${part.anchor}`;
            const example = `${part.heading} (${place})\n\n\`\`\`${language}\n${code}\n\`\`\``;
            room -= example.length;
            if (room < 0 && parts.length > 0) break;
            parts.push(example);
          }
          return parts.length > 0
            ? parts.join('\n\n')
            : 'No example was found. Try other words, or search_docs.';
        },
      }),
    },
    resources: {
      [`${PAGE_URI}{+page}`]: resource({
        title: 'A page of the documentation',
        mimeType: 'text/markdown',
        list: () =>
          documentation.pages.map((page) => ({
            uri: `${PAGE_URI}${page.file}`,
            name: page.file,
            title: page.name,
            description: page.sentence,
          })),
        complete: {
          page: (typed) =>
            documentation.pages.map(({ file }) => file).filter((file) => file.startsWith(typed)),
        },
        read: ({ page }) => {
          const found = documentation.find(String(page));
          return found && documentation.textOf(found);
        },
      }),
    },
  });
}

function searchSchema(limit: string, byDefault: number): StandardJsonSchema<Search> {
  return jsonSchema<Search>({
    type: 'object',
    properties: {
      query: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_QUERY,
        description: 'Words, a question, the name of an export, or an error message',
      },
      limit: { type: 'integer', minimum: 1, maximum: MAX_FOUND, default: byDefault, description: limit },
    },
    required: ['query'],
    additionalProperties: false,
  });
}

function read(documentation: Documentation, { page: typed, section, start = 0 }: Reading): string {
  const page = documentation.find(typed);
  if (page === undefined) {
    const close = documentation.closeTo(typed);
    throw new ToolError(
      `The documentation has no page ${JSON.stringify(typed)}.${close ? ` Did you mean "${close}.md"?` : ''} search_docs finds pages.`,
    );
  }
  const text = section === undefined ? documentation.textOf(page) : sectionOf(documentation, page, section);
  if (start > 0 && start >= text.length)
    throw new ToolError(`${page.file} has ${text.length} characters; nothing begins at ${start}.`);
  const piece = text.slice(start, start + MAX_READ);
  const left = text.length - start - piece.length;
  return left === 0
    ? piece
    : `${piece}\n\n[${left} more characters: read on with "start": ${start + MAX_READ}]`;
}

/** A section with those below it, by its heading or its anchor. */
function sectionOf(documentation: Documentation, page: DocPage, typed: string): string {
  const parts = documentation.partsOf(page);
  const wanted = typed.replace(/^#+ ?/, '').trim().toLowerCase();
  const at = parts.findIndex(
    ({ heading, anchor }) => heading.toLowerCase() === wanted || (anchor !== '' && anchor === wanted),
  );
  const first = parts[at];
  if (first === undefined) {
    const headings = parts.slice(1, 40).map(({ heading }) => heading);
    throw new ToolError(
      `${page.file} has no section ${JSON.stringify(typed)}.${headings.length > 0 ? ` Its sections: ${headings.join('; ')}.` : ''}`,
    );
  }
  const level = levelOf(first.text);
  const end = parts.findIndex(({ text }, index) => index > at && levelOf(text) <= level);
  return parts
    .slice(at, end < 0 ? undefined : end)
    .map(({ text }) => text)
    .join('');
}

function levelOf(text: string): number {
  return /^#+/.exec(text)?.[0].length ?? 1;
}
