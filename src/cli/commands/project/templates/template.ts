// The form of a template, and the parts that all templates share.

import {
  REQUESTS_FILE,
  type SavedRequest,
  writeRequests,
} from '../../../../tooling/requests/saved-request.js';

/** The answers to the questions of `fullmcp new`. */
export interface Choices {
  readonly name: string;
  readonly transport: 'stdio' | 'http';
  /** The version of fullmcp that the project depends on. */
  readonly version: string;
  /** Whether the project has the files that coding agents read. */
  readonly hasAgents: boolean;
  /** Whether the project has cases for `fullmcp eval`. */
  readonly hasEvals: boolean;
}

/** The files of a project by their paths. */
export type Files = Readonly<Record<string, string>>;

export interface Template {
  /** Its purpose in a few words. */
  readonly summary: string;
  /** The files that differ from those of the other templates. */
  readonly files: (choices: Choices) => Files;
  /** The words of a first call, after the target. */
  readonly firstCall: string;
  /** The requests that `fullmcp test` runs. */
  readonly requests: readonly SavedRequest[];
  /** The cases of `fullmcp eval`, as code. */
  readonly cases: string;
  /** The options of `evals`, as code. */
  readonly evalOptions?: string;
  /** The variable with the bearer token that a client sends over HTTP. */
  readonly token?: string;
  /** More for the README. */
  readonly notes?: string;
}

/** A value as a JSON file. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The files that every project has. */
export function commonFiles(template: Template, choices: Choices): Files {
  return {
    'package.json': packageJson(choices),
    'tsconfig.json': json({
      compilerOptions: {
        module: 'nodenext',
        target: 'es2023',
        lib: ['es2023', 'esnext.disposable'],
        types: ['node'],
        strict: true,
        skipLibCheck: true,
        noEmit: true,
        erasableSyntaxOnly: true,
        verbatimModuleSyntax: true,
        rewriteRelativeImportExtensions: true,
      },
      include: ['src', 'test'],
    }),
    '.gitignore': 'node_modules/\n.env\n',
    '.dockerignore': 'node_modules/\n.env\n.git/\n',
    Dockerfile: dockerfile(choices),
    ...clientConfigs(template, choices),
    [REQUESTS_FILE]: writeRequests({ version: 1, target: 'src/server.ts', requests: template.requests }),
    'README.md': readme(template, choices),
    ...(choices.hasAgents && agentFiles(template)),
    ...(choices.hasEvals && { 'src/evals.ts': evalsFile(template) }),
  };
}

function evalsFile({ cases, evalOptions }: Template): string {
  const options = evalOptions === undefined ? '' : `, ${evalOptions}`;
  return `import { call, evals } from 'fullmcp/evals';
import server from './server.ts';

// To ask a model: npx fullmcp eval --record --model anthropic:<model>, with its key in ANTHROPIC_API_KEY. Commit the tapes in
// src/evals.tapes: npx fullmcp eval replays them in CI, without a key.
export default evals(server, [
${cases.replaceAll(/^/gm, '  ')}
]${options});
`;
}

/**
 * The files that coding agents read before they start: AGENTS.md, and CLAUDE.md, which includes it. The marks are those of a block that
 * belongs to fullmcp; a project writes its own rules outside of them.
 */
function agentFiles({ firstCall }: Template): Files {
  return {
    'AGENTS.md': `<!-- BEGIN:fullmcp -->

# An MCP server with fullmcp

Do not write fullmcp from memory: its API differs from other libraries for MCP, and between versions. The documentation of the installed
version is in \`node_modules/fullmcp/dist/docs\`: read \`llms.txt\` there, which names every page, and then the pages that you need.

- Search it: \`npx fullmcp docs <words>\`. As an MCP server for an agent: \`npx fullmcp docs\`.
- Check your work: \`npm test\`, \`npm run types\`, \`npx fullmcp lint src/server.ts\`, \`npx fullmcp test\`.
- Try a tool: \`npx fullmcp call src/server.ts ${firstCall}\`.

<!-- END:fullmcp -->
`,
    'CLAUDE.md': '@AGENTS.md\n',
  };
}

function packageJson({ name, transport, version }: Choices): string {
  const listen = transport === 'http' ? ' --http' : '';
  return json({
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.19' },
    scripts: {
      start: `fullmcp run src/server.ts${listen}`,
      dev: 'fullmcp dev src/server.ts',
      test: 'node --import jiti/register --test test/server.test.ts',
      types: 'tsc',
    },
    dependencies: { fullmcp: `^${version}`, jiti: '^2.4.0', zod: '^4.0.0' },
    devDependencies: { '@types/node': '^24.0.0', typescript: '>=5.8' },
  });
}

/** The files in which Claude Code, Cursor and VS Code look for the servers of a project. */
function clientConfigs({ token }: Template, { name, transport }: Choices): Files {
  const entry = (variable: string): object => {
    if (transport === 'stdio')
      return { type: 'stdio', command: 'npx', args: ['fullmcp', 'run', 'src/server.ts'] };
    const headers = token && { headers: { Authorization: `Bearer $\{${variable}}` } };
    return { type: 'http', url: 'http://localhost:3000/mcp', ...headers };
  };
  return {
    '.mcp.json': json({ mcpServers: { [name]: entry(`${token}`) } }),
    '.cursor/mcp.json': json({ mcpServers: { [name]: entry(`env:${token}`) } }),
    '.vscode/mcp.json': json({ servers: { [name]: entry(`env:${token}`) } }),
  };
}

// The health check runs inside the container, where the server is at a loopback address.
function dockerfile({ name }: Choices): string {
  return `FROM node:24-slim
WORKDIR /app
# Other containers reach the server as "${name}". Behind a proxy, set MCP_PUBLIC_URL to its address when you run the image.
ENV NODE_ENV=production MCP_HOST=0.0.0.0 PORT=3000 MCP_ALLOWED_HOSTS=${name}
COPY package*.json ./
# Commit package-lock.json: then exactly its versions are installed.
RUN if [ -f package-lock.json ]; then npm ci --omit=dev --ignore-scripts; else npm install --omit=dev --ignore-scripts; fi
COPY . .
USER node
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch(\`http://127.0.0.1:\${process.env.PORT}/health\`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node_modules/.bin/fullmcp", "run", "src/server.ts", "--http"]
`;
}

function readme({ summary, firstCall, notes }: Template, { name }: Choices): string {
  return `# ${name}

An MCP server: ${summary}.

\`\`\`bash
npm install
npm test
npm run dev                                   # serves on http://localhost:3000/mcp, and reloads on save
npx fullmcp call src/server.ts ${firstCall}
npx fullmcp test                              # runs mcp.requests.json, and says what differs
\`\`\`

\`src/server.ts\` is the server, \`test/server.test.ts\` its test. \`mcp.requests.json\` has requests and what they must return, for
the inspector and for CI; \`npx fullmcp test --update\` also keeps the descriptions and schemas, so that a change is noticed. \`.mcp.json\`, \`.cursor/mcp.json\` and
\`.vscode/mcp.json\` are for Claude Code, Cursor and VS Code; \`npx fullmcp install <host> src/server.ts\` adds it to other hosts.
\`npm start\` serves it, and \`npm run types\` checks its types. The Dockerfile serves HTTP on port 3000, where
other containers reach it as \`${name}\`.
${notes ? `\n${notes}\n` : ''}`;
}
