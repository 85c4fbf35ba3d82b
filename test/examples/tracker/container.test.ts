import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { createServer } from 'fullmcp';
import { serve } from 'fullmcp/node';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readPage, root } from './page.js';

// The files for Docker on page 8 agree with the program and with the page.

const folder = `${root}examples/tracker/8-operate/`;
const dockerfile = readFileSync(`${folder}Dockerfile`, 'utf8');
const text = readFileSync(`${folder}compose.yaml`, 'utf8');
const compose = parse(text, { merge: true }) as {
  readonly services: Readonly<
    Record<string, { readonly environment: Readonly<Record<string, string>>; readonly command?: string[] }>
  >;
};

test('every variable that the container gets is read by the program or by the library', () => {
  const program = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const sources = [
    ...program.map((file) => readFileSync(`${folder}${file}`, 'utf8')),
    ...readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => readFileSync(`${root}src/${path}`, 'utf8')),
  ].join('\n');
  const inImage = [...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/(\w+)=/g)].map(
    ([, name]) => name,
  );
  const inCompose = Object.keys(compose.services['tracker']?.environment ?? {});
  const names = [...inImage, ...inCompose].filter((name) => name !== 'NODE_ENV');
  expect(names).toHaveLength(8);
  expect(names.filter((name) => !sources.includes(name ?? ''))).toEqual([]);
});

test('the page sets every variable that the compose file requires', () => {
  const required = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
  expect(required).toEqual(['POSTGRES_PASSWORD', 'MCP_SECRET', 'AUDIT_SECRET']);
  for (const name of required) expect(readPage('8-operate')).toMatch(new RegExp(`echo "${name}=`));
});

test('the image runs files that the page shows, not as root', () => {
  const commands = [
    JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '[]'),
    compose.services['tables']?.command,
  ];
  expect(commands).toEqual([
    ['node', 'main.ts'],
    ['node', 'tables.ts'],
  ]);
  for (const command of commands) expect(readdirSync(folder)).toContain(command?.[1]);
  expect(dockerfile).toMatch(/^USER node$/m);
});

test('the health check of the image tells a server from none', async () => {
  const [program = '', ...args] = JSON.parse(
    /HEALTHCHECK .*? CMD (.*)/.exec(dockerfile)?.[1] ?? '[]',
  ) as string[];
  expect(program).toBe('node');
  const serving = await serve(createServer({ name: 'x', version: '1.0.0' }), { port: 0, signals: false });
  expect(await health(args, serving.port)).toBe(0);
  await serving.close();
  expect(await health(args, serving.port)).toBe(1);
});

async function health(args: readonly string[], port: number): Promise<unknown> {
  const child = spawn(process.execPath, args, { env: { PORT: String(port) }, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  return code;
}
