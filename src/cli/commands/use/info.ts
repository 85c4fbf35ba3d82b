import type { Command } from '../../command/definition.js';
import { withTarget } from '../../target/open.js';
import { TARGET_OPTIONS } from '../../target/options.js';

/** `fullmcp info`. */
export const info: Command = {
  usage: '<target>',
  words: [1, 1],
  options: TARGET_OPTIONS,
  examples: [
    {
      line: 'fullmcp info http://localhost:3000/mcp',
      says: 'Its name, version, revision, features and instructions.',
    },
  ],
  json: '{ ok: true, name?: string, version?: string, title?: string, revision: string, transport: string, capabilities: object, instructions?: string }',
  run: (input) =>
    withTarget(input, async ({ client }) => {
      const { out } = input;
      const { info: self, capabilities, instructions, revision } = client.server;
      const { transport } = client.info();
      out.json({
        ok: true,
        ...self,
        revision,
        transport,
        capabilities,
        ...(instructions && { instructions }),
      });
      const features = Object.keys(capabilities).filter((name) => name !== 'extensions');
      const extensions = Object.keys((capabilities['extensions'] as object | undefined) ?? {});
      const rows: readonly (readonly [string, string | undefined])[] = [
        ['name', self && [self.title ?? self.name, self.version].filter(Boolean).join(' ')],
        ['speaks', `${revision} over ${transport}`],
        ['has', features.join(', ')],
        ['extensions', extensions.join(', ')],
        ['instructions', instructions],
      ];
      for (const [name, value] of rows)
        if (value) out.styled(`${out.style('dim', name.padEnd(14))}${indented(out.style('bold', value))}`);
    }),
};

function indented(text: string): string {
  return text.replaceAll('\n', `\n${' '.repeat(14)}`);
}
