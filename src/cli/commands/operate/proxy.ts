import { proxy as makeProxy } from '../../../proxy.js';
import { serveStdio } from '../../../stdio.js';
import type { Command } from '../../command/definition.js';
import { usageError } from '../../command/failures.js';
import { connectOptions } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';
import { takeTarget } from '../../target/read-target.js';

/** `fullmcp proxy`. */
export const proxy: Command = {
  usage: '<target>',
  details: 'For hosts that start programs and cannot open an address. Ends when the host closes stdin.',
  words: [1, 1],
  options: TARGET_OPTIONS,
  examples: [
    {
      line: 'fullmcp proxy https://example.com/mcp --header "X-Key: abc"',
      says: 'A remote server for a host that only starts programs.',
    },
  ],
  json: 'nothing: stdout belongs to the protocol, and --json is refused',
  async run(input) {
    if (input.out.isJson) throw usageError('stdout belongs to the protocol, so --json is not possible here.');
    const { target } = await takeTarget(input);
    const { signal, reconnect, ...options } = connectOptions(input, target);
    const server = makeProxy(target.target, options);
    const serving = serveStdio(server, { exit: false });
    input.signal.addEventListener('abort', () => void serving.close(), { once: true });
    await serving.closed;
  },
};
