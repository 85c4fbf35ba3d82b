import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const part = (path: string): string => new URL(`../../../${path}`, import.meta.url).href;
const { pnpmOf }: { pnpmOf(block: string): string | undefined } = await import(part('site/pnpm.js'));
const {
  javascriptOf,
}: { javascriptOf(file: string, region: string | undefined, text: string): string | undefined } =
  await import(part('site/javascript.js'));
const { regionOf }: { regionOf(program: string, region?: string): string[] | string } = await import(
  part('scripts/markdown.js')
);

describe('The tab for pnpm', () => {
  test.each([
    ['npm install fullmcp zod', 'pnpm add fullmcp zod'],
    ['npm install --save-dev typescript @types/node', 'pnpm add --save-dev typescript @types/node'],
    ['npm install', 'pnpm install'],
    ['npm install && npm test', 'pnpm install && pnpm test'],
    ['npm ci', 'pnpm install --frozen-lockfile'],
    ['npm init -y && npm pkg set type=module', 'pnpm init && pnpm pkg set type=module'],
    ['npx fullmcp new shop && cd shop', 'pnpm dlx fullmcp new shop && cd shop'],
    ['npx fullmcp call ./server.js add', 'pnpm exec fullmcp call ./server.js add'],
    ['npx -y @scope/server', 'pnpm dlx @scope/server'],
    ['fullmcp run -- npx -y @scope/server', 'fullmcp run -- pnpm dlx @scope/server'],
  ])('has for "%s" the line "%s"', (npm, pnpm) => {
    expect(pnpmOf(npm)).toBe(pnpm);
  });

  test.each(['node server.js', '# npm install is not needed', 'curl https://example.com/npm'])(
    'does not exist for "%s", which is the same with pnpm',
    (line) => {
      expect(pnpmOf(line)).toBeUndefined();
    },
  );

  test('keeps comments at the ends of lines below each other', () => {
    expect(pnpmOf('npx fullmcp list x    # one\nnode server.js        # two')).toBe(
      'pnpm exec fullmcp list x  # one\nnode server.js            # two',
    );
  });
});

describe('The tab for JavaScript', () => {
  const snippet = (file: string, region?: string): string => {
    const lines = regionOf(readFileSync(new URL(part(file)), 'utf8'), region);
    if (typeof lines === 'string') throw new Error(lines);
    return lines.join('\n');
  };

  test('has the region of the tested file without its types, and with its comments and empty lines', () => {
    const typescript = snippet('examples/guide/http.ts', 'public');
    const javascript = javascriptOf('examples/guide/http.ts', 'public', typescript) ?? '';
    expect(typescript).toContain('export function servePublic(): Promise<Serving> {');
    expect(javascript).toContain('/** Reachable from other machines');
    expect(javascript).toContain('export function servePublic() {\n  return serve(server, {');
  });

  test('does not exist where the program has no types', () => {
    const typescript = snippet('examples/basic-server/server.ts');
    expect(javascriptOf('examples/basic-server/server.ts', undefined, typescript)).toBeUndefined();
  });
});
