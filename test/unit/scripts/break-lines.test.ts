import { expect, test } from 'vitest';

const { breakLines }: { breakLines(declarations: readonly string[]): string[] } = await import(
  new URL('../../../scripts/break-lines.js', import.meta.url).href
);

test('A declaration that is too long for a line is broken at its parameters, and a short one stays.', () => {
  const parameters = ['First', 'Second', 'Third', 'Fourth'].map(
    (name) => `${name.toLowerCase()}Argument: ${name}Argument`,
  );
  const long = `function connectToEverything(${parameters.join(', ')}): Promise<void>`;
  expect(breakLines([long, 'function text(value: string): TextContent'])).toEqual([
    `function connectToEverything(\n${parameters.map((line) => `  ${line},\n`).join('')}): Promise<void>`,
    'function text(value: string): TextContent',
  ]);
});

test('Every form that the reference shows comes back as it was.', () => {
  const forms = [
    "type Way = 'in' | 'out'",
    'interface Served<T> extends Base<T>',
    'class McpError extends Error',
    'const revisions: readonly string[]',
    'audit(options: AuditOptions): Middleware',
    'audit(options: AuditOptions): Middleware',
  ];
  expect(breakLines(forms)).toEqual(forms);
});
