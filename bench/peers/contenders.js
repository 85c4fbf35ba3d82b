// Who is measured, and how each of them is started. Every folder has the same tool, written as the library's own documentation shows it.

/**
 * @typedef {object} Contender
 * @property {string} name As the tables show it.
 * @property {string} folder Its folder here, with a package.json of its own.
 * @property {string} main The package whose version is shown.
 * @property {readonly string[]} [build] A command that must run after the installation.
 * @property {Partial<Record<'http' | 'stdio' | 'bun', string>>} programs The programs to start, below the folder.
 * @property {number} [port] The port that its build has fixed. Default: a free one.
 * @property {boolean} [session] Whether calls of 2025 over HTTP need a session.
 * @property {boolean} [modern] Whether it answers requests of 2026-07-28.
 */

const both = { http: 'http.js', stdio: 'stdio.js' };

/** @type {readonly Contender[]} */
export const contenders = [
  { name: 'bare', folder: 'bare', main: '', programs: { ...both, bun: 'bun.js' }, modern: true },
  {
    name: 'fullmcp',
    folder: 'fullmcp',
    main: 'fullmcp',
    programs: { ...both, bun: 'bun.js' },
    session: true,
    modern: true,
  },
  { name: 'SDK v1', folder: 'sdk-v1', main: '@modelcontextprotocol/sdk', programs: both },
  {
    name: 'SDK v2',
    folder: 'sdk-v2',
    main: '@modelcontextprotocol/server',
    programs: { ...both, bun: 'bun.js' },
    modern: true,
  },
  { name: 'FastMCP', folder: 'fastmcp', main: 'fastmcp', programs: both },
  { name: 'mcp-framework', folder: 'mcp-framework', main: 'mcp-framework', programs: both, session: true },
  {
    name: 'tmcp',
    folder: 'tmcp',
    main: 'tmcp',
    programs: { ...both, bun: 'bun.js' },
    session: true,
    modern: true,
  },
  {
    name: 'xmcp',
    folder: 'xmcp',
    main: 'xmcp',
    build: ['npx', '--no-install', 'xmcp', 'build'],
    programs: { http: 'dist/http.js', stdio: 'dist/stdio.js' },
    port: 39_017,
    modern: true,
  },
  { name: 'mcp-lite', folder: 'mcp-lite', main: 'mcp-lite', programs: { http: 'http.js', bun: 'bun.js' } },
];
