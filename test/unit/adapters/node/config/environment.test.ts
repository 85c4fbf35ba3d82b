import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { environmentOptions } from '../../../../../src/adapters/node/config/environment.js';
import { settingRows } from '../../../../../src/adapters/node/config/settings.js';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const page = readFileSync(join(root, 'docs/configure.md'), 'utf8');
const documented = [...page.matchAll(/^\| `([A-Z][A-Z_]+)` \|/gm)].map(([, name]) => name);

test('the page has a row for every environment variable that the code names, and no other', () => {
  const named = new Set<string>();
  for (const file of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const text = readFileSync(join(root, 'src', file), 'utf8');
    for (const [name] of text.matchAll(/\b(?:FULL)?MCP_[A-Z_]*[A-Z]\b/g)) named.add(name);
  }
  // Set by the primary process for its workers, not by an operator.
  named.delete('FULLMCP_WORKER');
  expect(documented.filter((name) => name !== 'PORT').sort()).toEqual([...named].sort());
});

test('the page has every option of the config file', () => {
  for (const [name, { variable }] of settingRows()) {
    expect(page).toContain(`\`${name}\``);
    if (variable !== undefined) expect(documented).toContain(variable);
  }
});

describe('a wrong variable leads to an error that names it', () => {
  const wrong = settingRows().flatMap(([, { variable, read }]) =>
    variable !== undefined && read !== undefined ? [variable] : [],
  );
  test.each(['PORT', 'MCP_MAX_BODY_BYTES', 'MCP_WORKERS', 'MCP_DRAIN_MS', 'MCP_LOG_LEVEL', 'MCP_LOG_FORMAT'])(
    '%s',
    (name) => {
      expect(wrong).toContain(name);
      for (const value of ['x', '-1', '1.5', ' ', '0x', '1e400'])
        expect(() => environmentOptions({ [name]: value })).toThrow(
          `The environment variable ${name} must be`,
        );
    },
  );

  test('MCP_WORKERS=0', () => {
    expect(() => environmentOptions({ MCP_WORKERS: '0' })).toThrow('The environment variable MCP_WORKERS');
  });

  test('one of MCP_TLS_CERT and MCP_TLS_KEY', () => {
    expect(() => environmentOptions({ MCP_TLS_CERT: 'a.pem' })).toThrow('must be set together');
    expect(environmentOptions({ MCP_TLS_CERT: 'a.pem', MCP_TLS_KEY: 'b.pem' })).toEqual({
      tls: { cert: 'a.pem', key: 'b.pem' },
    });
  });
});

test('spaces around numbers and between the items of a list do not matter', () => {
  expect(environmentOptions({ PORT: ' 80 ', MCP_ALLOWED_HOSTS: ' a , b ', MCP_TRUST_PROXY: ' 1 ' })).toEqual({
    port: 80,
    allowedHosts: ['a', 'b'],
    trustProxy: 1,
  });
});
