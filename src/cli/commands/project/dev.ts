import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { wholeNumber } from '../../command/parse.js';
import { CALLER_OPTIONS } from '../../target/caller.js';
import { serveAndReload } from './reloading/serve-and-reload.js';

/** `fullmcp dev`. */
export const dev: Command = {
  usage: '<file> [-- argument …]',
  details:
    'Serves a file and loads it again when a file of its project changes. Clients stay connected and hear that the lists have changed, and\nopen questions stay open. If the new code cannot be loaded, the error is shown and the old code keeps serving. The project is the\nclosest folder with a package.json. Shown with each load: the tokens of each tool, and the findings of `fullmcp lint`. The `auth` of the\nserver does not apply: `dev` listens on this computer only, and every caller is trusted, or is the one that --as names.\n\nThe inspector runs beside it: open the address that is printed, with --stdio on stderr. It shows the steps of handlers, and stays connected when the code changes.',
  words: [1, 2],
  options: {
    stdio: { type: 'boolean', help: 'serve on stdin and stdout, instead of listening for HTTP' },
    port: {
      type: 'string',
      short: 'p',
      value: 'n',
      help: 'the port; default: the first free one from 3000 on; 0 takes any free one',
    },
    ...CALLER_OPTIONS,
    'no-inspector': { type: 'boolean', help: 'do not start the inspector beside it' },
  },
  examples: [
    { line: 'fullmcp dev src/server.ts', says: 'Listens on http://localhost:3000/mcp, and reloads on save.' },
    { line: 'fullmcp dev src/server.ts --as ada', says: 'Every call is that of ada.' },
    { line: 'claude mcp add shop -- npx fullmcp dev src/server.ts --stdio', says: 'Reloads below a host.' },
  ],
  json: '{ ok: true, url: string, port: number, inspector?: string }, once it listens; not with --stdio',
  async run(input) {
    const [file = ''] = input.words;
    const port = wholeNumber(input, 'port', [0, 65_535]);
    const hasInspector = !input.flag('no-inspector');
    if (!input.flag('stdio'))
      return serveAndReload(file, { listening: { port, websocket: false }, hasInspector }, input);
    if (input.out.isJson || port !== undefined)
      throw usageError(
        '--stdio leaves stdout to the protocol, and listens on no port: leave out --json and --port.',
      );
    await serveAndReload(file, { hasInspector }, input);
  },
};
