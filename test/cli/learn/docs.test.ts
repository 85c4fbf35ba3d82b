import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DocSearch } from '../../../src/cli/docs/doc-search.js';
import { docsServer } from '../../../src/cli/docs/docs-server.js';
import { Documentation, ownDocumentation } from '../../../src/cli/docs/documentation.js';
import { testClient } from '../../../src/testing.js';
import { growth } from '../../support/growth.js';
import { serving } from '../project/support.js';
import { fullmcp } from '../support/run-cli.js';

interface Found {
  readonly results: readonly { page: string; section?: string; passage: string }[];
  readonly hint?: string;
}

describe('fullmcp docs with words', () => {
  it('prints the pages that fit best, each with a passage, and how to read one', async () => {
    const { exit, stdout, stderr } = await fullmcp(['docs', 'Prometheus', 'metrics']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^telemetry\.md {2}/);
    expect(stdout).toContain('Prometheus');
    expect(stderr).toBe('Read a page: fullmcp docs telemetry.md\n');
  });

  it('prints the same as JSON', async () => {
    const { exit, json } = await fullmcp(['docs', 'Prometheus metrics', '--json']);
    expect(exit).toBe(0);
    expect(json<{ ok: boolean } & Found>()).toMatchObject({
      ok: true,
      results: [{ page: 'telemetry.md' }, {}, {}, {}, {}],
    });
  });

  it('says so if nothing fits', async () => {
    const { exit, stdout, stderr } = await fullmcp(['docs', '🦀🦀']);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
    expect(stderr).toContain('Nothing was found.');
  });

  it('prints a page as it is, without comments that only a clone can use', async () => {
    const { exit, stdout } = await fullmcp(['docs', 'tasks.md']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^# Tasks/);
    expect(stdout).not.toContain('<!--');
  });

  it('refuses a page that does not exist and names the closest one', async () => {
    const { exit, stderr } = await fullmcp(['docs', 'taks.md']);
    expect(exit).toBe(2);
    expect(stderr).toContain('has no page "taks.md". Did you mean "tasks.md"?');
  });

  it('does not serve', async () => {
    const { exit, stderr } = await fullmcp(['docs', 'tasks', '--http']);
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: 'With words, nothing is served. Leave out the words, or --http and --ws.\n',
    });
  });
});

describe('fullmcp docs without words', () => {
  it('lists the pages for a person at a terminal instead of waiting for messages', async () => {
    const { exit, stdout } = await fullmcp(['docs'], { terminal: true, keys: '', columns: 100 });
    expect(exit).toBe(0);
    expect(stdout).toContain('asking.md');
    expect(stdout).toContain('cli/docs.md');
  });

  it('lists the pages as JSON', async () => {
    const { exit, json } = await fullmcp(['docs', '--json']);
    expect(exit).toBe(0);
    const { pages } = json<{ pages: { page: string; about: string }[] }>();
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.every(({ about }) => about.length > 5)).toBe(true);
  });

  it('serves over HTTP with --http', async () => {
    const { url, stop } = await serving(['docs', '--http', '--port', '0']);
    const called = await fullmcp(['call', url, 'search_docs', 'query=Prometheus metrics', '--json']);
    expect(called.json()).toMatchObject({
      ok: true,
      data: { results: [{ page: 'telemetry.md' }, {}, {}, {}, {}] },
    });
    expect(await stop()).toBe(0);
  });
});

describe('the MCP server over the documentation', () => {
  const server = docsServer(ownDocumentation());

  it('lists every page as a resource that can be read and completed', async () => {
    await using client = await testClient(server);
    const resources = await client.resources().all();
    expect(resources.length).toBe(ownDocumentation().pages.length);
    for (const { uri } of resources) {
      const [contents] = (await client.readResource(uri)).contents;
      expect((contents as { text: string }).text, uri).toMatch(/^# /);
    }
  });

  it('reads a page in pieces that together are the page', async () => {
    await using client = await testClient(server);
    const documentation = ownDocumentation();
    const page = documentation.find('reference/client.md');
    const whole = page && documentation.textOf(page);
    let read = '';
    for (;;) {
      const { text } = await client.callTool('read_docs', {
        page: 'reference/client.md',
        start: read.length,
      });
      const [piece = '', more] = text.split('\n\n[');
      read += more?.includes('more characters: read on') ? piece : text;
      if (!/more characters: read on with "start": \d+\]$/.test(text)) break;
      expect(text.length).toBeLessThan(20_200);
    }
    expect(read).toBe(whole);
  });

  it('reads a section with the sections below it, by its heading or its anchor', async () => {
    await using client = await testClient(server);
    const byHeading = await client.callTool('read_docs', { page: 'cli/run.md', section: 'Examples' });
    const byAnchor = await client.callTool('read_docs', { page: 'docs/cli/run.md', section: '#examples' });
    expect(byHeading.text).toMatch(/^## Examples\n/);
    expect(byHeading.text).not.toContain('## Options');
    expect(byAnchor.text).toBe(byHeading.text);
    expect(await client.callTool('read_docs', { page: 'cli/run.md', section: 'nope' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Its sections: Examples; Options; JSON.'),
    });
  });

  it('finds code that fits', async () => {
    await using client = await testClient(server);
    const { text } = await client.callTool('find_example', { query: 'testClient caller answers', limit: 2 });
    expect(text).toContain('await testClient(server');
    expect(text.match(/^```\w+$/gm)?.length).toBe(2);
    // A signature of the reference is not an example.
    expect(text).not.toContain('interface ');
  });

  it.each([
    '../../etc/passwd',
    '../package.json',
    '..%2f..%2fpackage.json',
    '%2e%2e/package.json',
    '/etc/passwd',
    'file:///etc/passwd',
    'docs://fullmcp/../package.json',
    'cli/../../package.json',
    'tasks.md\u0000.txt',
    '..\\..\\package.json',
    '__proto__',
    'constructor',
    'llms.txt',
    'x'.repeat(300),
  ])('reads nothing outside of the list of pages: %j', async (page) => {
    await using client = await testClient(server);
    expect(await client.callTool('read_docs', { page })).toMatchObject({
      isError: true,
      text: expect.stringContaining('has no page'),
    });
    await expect(client.readResource(`docs://fullmcp/${page}`)).rejects.toMatchObject({
      code: expect.stringMatching(/resource_not_found|invalid_params|invalid_request/),
    });
  });

  it.each([
    ['regular expressions', '(a+)+$ [^ .* \\b{1,99999}'],
    ['control characters', '\u0000\u001b[2J\u0007 tasks \u202e'],
    ['names of objects', '__proto__ constructor toString hasOwnProperty'],
    ['surrogates', '\ud800 tasks \udfff'],
    ['HTML', '<script>alert(1)</script> tasks'],
    ['one long word', 'a'.repeat(500)],
    ['many words', 'ask task '.repeat(55)],
    ['spaces', ' \n\t '],
  ])('answers a query of %s within its bounds', async (_, query) => {
    await using client = await testClient(server);
    for (const [tool, limit] of [
      ['search_docs', 20],
      ['find_example', 20],
    ] as const) {
      const { text } = await client.callTool(tool, { query, limit });
      expect(text.length).toBeLessThan(40_000);
    }
  });

  it('refuses queries and limits beyond its bounds', async () => {
    await using client = await testClient(server);
    for (const input of [
      { query: 'a'.repeat(501) },
      { query: '' },
      { query: 'a', limit: 21 },
      { query: 'a', limit: 0 },
      { query: 'a', more: 1 },
    ])
      expect(await client.callTool('search_docs', input), JSON.stringify(input).slice(0, 40)).toMatchObject({
        isError: true,
        text: expect.stringContaining('Invalid arguments'),
      });
  });

  it('reads only the beginning of a giant query', () => {
    const search = new DocSearch(ownDocumentation());
    const query = 'tasks ((a|a)*b '.repeat(50);
    const times = growth((text: string) => search.pages(text, 5), query, query.repeat(10));
    expect(times).toBeLessThan(5);
  });
});

describe('a folder without documentation', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fullmcp-docs-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is an error that says what is missing and what to do', () => {
    expect(() => new Documentation(folder)).toThrow(
      /^The documentation cannot be read \(ENOENT: .*llms\.txt\)\. Install the package again: npm install fullmcp@/,
    );
  });

  it('has pages that are listed, and fails only for one that is missing', async () => {
    await writeFile(
      join(folder, 'llms.txt'),
      '# x\n\n## Guides\n\n- [A](a.md): Says a. Asked as: alpha\n- [B](b/b.md): Says b.\n- broken\n',
    );
    await writeFile(
      join(folder, 'a.md'),
      '# A\n\nText.\n\n## One\n\n```md\n## not a heading\n```\n\n## One\n',
    );
    await mkdir(join(folder, 'b'));
    const documentation = new Documentation(folder);
    expect(documentation.pages).toEqual([
      { file: 'a.md', name: 'A', section: 'Guides', sentence: 'Says a.', asks: 'alpha' },
      { file: 'b/b.md', name: 'B', section: 'Guides', sentence: 'Says b.', asks: '' },
    ]);
    const [a, b] = documentation.pages;
    expect(a && documentation.partsOf(a).map(({ anchor }) => anchor)).toEqual(['', 'one', 'one-1']);
    expect(() => b && documentation.partsOf(b)).toThrow('ENOENT');
  });
});
