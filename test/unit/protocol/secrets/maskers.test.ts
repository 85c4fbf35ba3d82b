// The same secrets through every part that shows or keeps what others wrote: each hides all of them, and none hides ordinary words.

import { describe, expect, it, test } from 'vitest';
import { targetOfEnvironment, targetOfUrl } from '../../../../src/adapters/postgres/database/target.js';
import { reasonOf } from '../../../../src/adapters/redis/client/error.js';
import { masked, maskedText, maskedUrl } from '../../../../src/cli/hosts/mask.js';
import { targetSecrets } from '../../../../src/cli/tape/target-secrets.js';
import { secretsOf } from '../../../../src/inspector/session/connection/target-headers.js';
import { maskBody, maskHopUrl } from '../../../../src/inspector/session/login/mask-body.js';
import { maskHeaders, maskTexts } from '../../../../src/inspector/wiretap/mask.js';
import { redactor } from '../../../../src/middleware/facts/redact.js';
import { McpError } from '../../../../src/protocol/errors.js';
import { displayUrl } from '../../../../src/protocol/secrets/display-url.js';
import { SECRET_ENDS, SECRET_NAMES } from '../../../../src/protocol/secrets/names.js';
import { bareUrl } from '../../../../src/protocol/secrets/url.js';
import { conceal } from '../../../../src/protocol/secrets/values.js';
import { LogLines } from '../../../../src/protocol/telemetry/log-line.js';
import { Secrets } from '../../../../src/testing/recording/secrets.js';
import { RefusedCredentials } from '../../../../src/transports/server/refused-credentials.js';

const SECRET = 'hunter2-is-not-a-good-one';
const BASIC = btoa(`ada:${SECRET}`);

const spellings = [
  ...SECRET_ENDS.flatMap((name) => [
    name,
    `${name}s`,
    name.toUpperCase(),
    `X-${name}`,
    `my_${name}`,
    `user[${name}]`,
  ]),
  ...SECRET_NAMES.flatMap((name) => [
    name,
    name.toUpperCase(),
    `-${name}-`,
    `${name.slice(0, 1)}_${name.slice(1)}`,
  ]),
];

const ORDINARY = {
  tokens: 5,
  usage: { tokens: { input: 5, output: 7 } },
  maxTokens: 100,
  progressToken: 'p1',
  keyboard: 'qwerty',
  author: 'Ada Lovelace',
  spin: 'left',
  tokenizer: 'bpe',
  secretary: 'Grace',
  key: 'sort-order',
  required: ['token', 'username'],
  isSecret: true,
};

/** Each copies a value, and prints it. */
const valueMaskers: Readonly<Record<string, (value: unknown) => string>> = {
  'logs and the audit': (value) => JSON.stringify(redactor({ maxChars: 1e6 })(value)),
  tapes: (value) => JSON.stringify(new Secrets().without(value)),
  'bodies of a login': (value) => maskBody(JSON.stringify(value), 'application/json'),
};

/** Each prints a string of someone else's. */
const textMaskers: Readonly<Record<string, (text: string) => string>> = {
  'the log of a server': (text) => new LogLines().json({ level: 'error', message: text }),
  'the log for people': (text) =>
    new LogLines().text({ level: 'error', message: 'x', detail: new Error(text) }),
  'logs and the audit': (text) => JSON.stringify(redactor()({ content: [{ text }] })),
  tapes: (text) => JSON.stringify(new Secrets().without({ content: [{ text }] })),
  'bodies of a login': (text) => maskBody(text, 'text/plain'),
  'arguments of servers': (text) => JSON.stringify(masked({ command: 'x', args: [text] })),
};

/** Each prints a URL. */
const urlMaskers: Readonly<Record<string, (url: string) => string>> = {
  ...textMaskers,
  messages: displayUrl,
  'the command': maskedUrl,
  'servers that are found': (url) => JSON.stringify(masked({ url })),
  'hops of a login': maskHopUrl,
  'messages of the inspector': (url) => bareUrl(url, '•••'),
  'headers of the inspector': (location) => JSON.stringify(maskHeaders({ location })),
};

function expectHidden(shown: string): void {
  expect(shown).not.toContain(SECRET);
  expect(shown).not.toContain(BASIC);
}

describe.each(Object.entries(valueMaskers))('in %s,', (_, show) => {
  it.each(spellings)('the field %s is hidden', (name) => {
    expectHidden(show({ [name]: SECRET, deep: [{ [name]: { a: [SECRET] } }] }));
    expectHidden(show([{ name, value: SECRET }, { key: name, value: SECRET }, [[name, SECRET]]]));
    expectHidden(show({ env: { [name]: SECRET }, headers: [[name, SECRET]] }));
  });

  it('secrets are hidden in strings that are JSON, and beside their names', () => {
    const text = JSON.stringify({ password: { inner: SECRET }, list: JSON.stringify([{ token: SECRET }]) });
    expectHidden(show({ content: [{ text }] }));
    expectHidden(show({ authorization: `Basic ${BASIC}`, note: `Bearer ${SECRET}` }));
  });

  it('ordinary words stay readable', () => {
    expect(JSON.parse(show(ORDINARY))).toEqual(ORDINARY);
  });
});

describe.each(Object.entries(textMaskers))('in text of %s,', (what, show) => {
  // A server loads little: its log knows names, and not the keys of services.
  const isLog = what.startsWith('the log');

  it.each([
    `password=${SECRET}`,
    `the API_KEY: ${SECRET}`,
    `{"access_token": "${SECRET}", broken`,
    `{\\"client-secret\\":\\"${SECRET}\\"}`,
    `Authorization: Bearer ${SECRET}`,
    `authorization: Basic ${BASIC}`,
    `Proxy-Authorization: ApiKey ${SECRET}`,
    `sent basic ${BASIC} to it`,
    `Cookie: theme=dark; session=${SECRET}`,
    `Set-Cookie: id=${SECRET}; HttpOnly`,
    `postgres://app:${SECRET}@db/orders refused`,
    `see https://a.example/?x=1&refresh_token=${SECRET}&y=2`,
  ])('the secret is hidden: %s', (text) => {
    expectHidden(show(text));
  });

  it.each([
    'the keyboard of the author',
    'a basic understanding',
    'tokens are cheap',
    'a=1',
    'sk-learn',
    'a random secret: all logins end when this process does',
    'the token: it was sent twice',
  ])('%j stays readable', (text) => {
    expect(show(text)).toContain(text);
  });

  it.each(['password: the quick brown fox', 'secret: all', 'token=all logins', 'secret: alligator9 ends'])(
    'the value in %j is hidden, although it could begin a sentence',
    (text) => {
      const [, value = ''] = /[:=] ?(\w+)/.exec(text) ?? [];
      expect(show(text)).not.toMatch(new RegExp(`[:=] ?${value}`));
    },
  );

  if (!isLog)
    it.each([
      `ghp_${'a1'.repeat(18)}`,
      `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIi'.repeat(3)}.c2ln`,
      `sk-${'b2'.repeat(20)}`,
    ])('a key is hidden that is known by its form: %s', (key) => {
      expect(show(`it is ${key} now`)).not.toContain(key);
    });
});

describe.each(Object.entries(urlMaskers))('in URLs of %s,', (_, show) => {
  it.each([
    `https://ada:${SECRET}@a.example/mcp`,
    `https://a.example/mcp?api_key=${SECRET}&page=2`,
    `https://a.example/mcp?page=2#access_token=${SECRET}`,
  ])('the secret is hidden: %s', (url) => {
    expectHidden(show(url));
  });

  it('the host and the path stay readable', () => {
    expect(show('https://keyboard.example/author')).toContain('https://keyboard.example/author');
  });
});

test('a token that stands alone before the host of a URL is hidden in addresses for people', () => {
  for (const show of [maskedUrl, maskHopUrl, displayUrl]) {
    expectHidden(show(`https://${SECRET}@a.example/mcp?page=2`));
    expect(show(`https://${SECRET}@a.example/mcp`)).toContain('a.example/mcp');
  }
  expect(maskHopUrl('https://a.example/@ada?to=b@c')).toBe('https://a.example/@ada?to=b@c');
});

test('the name of a parameter may be percent-encoded', () => {
  const url = `https://a.example/mcp?pass%77ord=${SECRET}`;
  for (const show of [maskedUrl, maskHopUrl, displayUrl]) expectHidden(show(url));
  for (const show of Object.values(valueMaskers)) expectHidden(show({ url }));
});

describe('headers and variables', () => {
  const names = spellings.filter((name) => /^[\w-]+$/.test(name));

  it.each(names)('%s is hidden in the inspector, in configs and in arguments', (name) => {
    expectHidden(JSON.stringify(maskHeaders({ [name]: SECRET })));
    expectHidden(JSON.stringify(maskHeaders({ [name]: `Basic ${BASIC}` })));
    expectHidden(JSON.stringify(masked({ url: 'https://a.example', headers: { [name]: SECRET } })));
    const args = [`--${name}`, SECRET, `--${name}=${SECRET}`, '-e', `${name}=${SECRET}`];
    expectHidden(JSON.stringify(masked({ command: 'x', args, env: { [name]: SECRET } })));
  });

  test('a credential is hidden in the inspector under any name, and ordinary headers are shown', () => {
    expectHidden(JSON.stringify(maskHeaders({ 'x-forwarded': `Bearer ${SECRET}` })));
    const ordinary = {
      accept: 'application/json, text/event-stream;q=0.9',
      'www-authenticate': 'Bearer resource_metadata="https://a.example/.well-known/x", error="invalid_token"',
      author: 'Ada',
    };
    expect(maskHeaders(ordinary)).toEqual(ordinary);
  });

  test('a code of a login is hidden in its bodies and addresses only', () => {
    expectHidden(maskBody(`code=${SECRET}&state=s`, 'application/x-www-form-urlencoded'));
    expectHidden(JSON.stringify(maskHeaders({ location: `https://a.example/cb?code=${SECRET}` })));
    expect(JSON.stringify(redactor()({ code: 'E42', assertion: 'a is b' }))).toContain('E42');
  });
});

describe('values that are known', () => {
  const hard = `p"w\\${SECRET}/+ é`;
  const forms = (secret: string): string =>
    [
      secret,
      JSON.stringify(secret),
      encodeURIComponent(secret),
      String(new URLSearchParams({ x: secret })),
    ].join(' and ');

  /** Each prints a string, and knows the secret. */
  const maskers: Readonly<Record<string, (text: string, secret: string) => string>> = {
    'errors of logins': (text, secret) => conceal(text, [secret]),
    'the inspector': (text, secret) => maskTexts([secret])(text),
    tapes: (text, secret) => String(new Secrets([], [secret]).without(text)),
    'tapes that saw it': (text, password) =>
      JSON.stringify(new Secrets().without({ text, user: { password } })),
    'differences of configs': (text, secret) => maskedText(text, [{ command: 'x', env: { A: secret } }]),
    'errors of Redis': (text, secret) => reasonOf(new Error(text), [secret]),
    'errors of Postgres': (text, secret) =>
      targetOfUrl(`postgres://a:${encodeURIComponent(secret)}@db/x`).redact(text),
    'errors of the environment’s Postgres': (text, secret) =>
      targetOfEnvironment({ PGPASSWORD: secret }).redact(text),
  };

  it.each(Object.entries(maskers))('are hidden in every form in %s', (_, show) => {
    for (const secret of [SECRET, hard]) {
      const shown = show(forms(secret), secret);
      for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
        expect(shown).not.toContain(form);
    }
  });

  const given = {
    authorization: `Bearer ${SECRET}`,
    'proxy-authorization': `Basic ${BASIC}`,
    cookie: `theme=dark; session=${SECRET}`,
  };

  it.each(Object.entries(given))('include what is in the header %s', (name, value) => {
    const target = { url: 'https://a.example/mcp', headers: { [name]: value } };
    const input = { texts: () => [] } as never;
    const onTape = new Secrets([], targetSecrets(input, { target } as never, {}));
    expect(JSON.stringify(onTape.without({ text: `it sent ${SECRET}` }))).not.toContain(SECRET);
    const seen = maskTexts(secretsOf({ target, options: {} } as never, {} as never));
    expect(seen(`it sent ${SECRET}`)).not.toContain(SECRET);
  });

  it.each(Object.entries(given))('are not in the report of a refusal that repeats %s', (name, value) => {
    const lines: string[] = [];
    const reports = new RefusedCredentials({
      server: 'x',
      log: (_, message) => lines.push(message),
      listeners: [],
    });
    const error = new McpError('unauthorized', `No user for ${value}, that is ${SECRET}.`, { status: 401 });
    reports.note(error, { address: undefined, fields: () => [[name, value]] });
    reports.close();
    expect(lines).toHaveLength(1);
    expectHidden(lines.join());
  });
});
