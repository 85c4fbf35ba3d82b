import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TemplateMatch } from '../../../../src/protocol/uri-template/match.js';
import { parseTemplate } from '../../../../src/protocol/uri-template/template.js';
import { growth } from '../../../support/growth.js';

/** A plain object, so that `toEqual` need not know of null prototypes. */
function match(template: string, uri: string): TemplateMatch | undefined {
  const variables = parseTemplate(template).match(uri);
  return variables === undefined ? undefined : { ...variables };
}

describe('match', () => {
  it.each([
    ['users://{id}', 'users://42', { id: '42' }],
    ['users://{id}/posts/{post}', 'users://ann/posts/7', { id: 'ann', post: '7' }],
    ['github://{owner}/{repo}/{+path}', 'github://a/b/c/d.ts', { owner: 'a', repo: 'b', path: 'c/d.ts' }],
    ['file:///{+path}', 'file:///a/b%20c.txt', { path: 'a/b c.txt' }],
    ['{+path}/{file}', 'a/b/c', { path: 'a/b', file: 'c' }],
    ['plain://text', 'plain://text', {}],
    ['', '', {}],
    // Simple.
    ['{a}', 'caf%C3%A9', { a: 'café' }],
    ['{a}', 'café', { a: 'café' }],
    ['{a}', 'x😀', { a: 'x😀' }],
    ['{a}', "a!$&'()*+,;=:@b", { a: "a!$&'()*+,;=:@b" }],
    ['{a,b}', '1,2', { a: '1', b: '2' }],
    ['{a,b}', '1,2,3', { a: '1', b: '2,3' }],
    ['{list*}', 'a,b,c', { list: ['a', 'b', 'c'] }],
    ['{list*}', 'a', { list: ['a'] }],
    ['{list*,last}', 'a,b,c', { list: ['a'], last: 'b,c' }],
    // The shortest value that lets the rest match.
    ['{a}.{b}', 'x.y.z', { a: 'x', b: 'y.z' }],
    ['{a}-{b}-c', '1-2-3-c', { a: '1', b: '2-3' }],
    ['{a}{b}', '%C3%A9%C3%A8x', { a: 'é', b: 'èx' }],
    // Labels, segments and fragments.
    ['{name}{.ext}', 'file.txt', { name: 'file', ext: 'txt' }],
    ['{name}{.ext}', 'file', { name: 'file' }],
    ['www{.dom*}', 'www.example.com', { dom: ['example', 'com'] }],
    ['db:{/id}', 'db:/7', { id: '7' }],
    ['db:{/id}', 'db:', {}],
    ['db:{/id}', 'db:/', { id: '' }],
    ['db:{/a,b}', 'db:/1', { a: '1' }],
    ['db:{/a,b}', 'db:/1/2', { a: '1', b: '2' }],
    ['db:{/a*}', 'db:/1/2//3', { a: ['1', '2', '', '3'] }],
    ['db:{/a*}', 'db:', {}],
    ['db:{/a*,b}', 'db:/1/2/3', { a: ['1', '2'], b: '3' }],
    ['db:{/a*}/end', 'db:/1/2/end', { a: ['1', '2'] }],
    ['doc{#part}', 'doc#a/b?c', { part: 'a/b?c' }],
    ['doc{#part}', 'doc', {}],
    ['doc{#part}', 'doc#', { part: '' }],
    // Parameters and queries.
    ['p{;a,b}', 'p;b=2;a=1', { a: '1', b: '2' }],
    ['p{;a,b}', 'p;a', { a: '' }],
    ['p{;a*}', 'p;a=1;a=2', { a: ['1', '2'] }],
    ['s{?q,limit}', 's?q=x%26y&limit=10', { q: 'x&y', limit: '10' }],
    ['s{?q,limit}', 's?limit=10&q=', { q: '', limit: '10' }],
    ['s{?q,limit}', 's?limit=10', { limit: '10' }],
    ['s{?q,limit}', 's', {}],
    ['s{?q}', 's?q=a+b=c', { q: 'a+b=c' }],
    ['s{?tag*,q}', 's?tag=a&q=x&tag=b', { tag: ['a', 'b'], q: 'x' }],
    ['s?fixed=1{&x}', 's?fixed=1&x=2', { x: '2' }],
    ['s?fixed=1{&x}', 's?fixed=1', {}],
    ['s{?a,b}{&c}', 's?b=2&a=1&c=3', { a: '1', b: '2', c: '3' }],
    ['s{?a}&z=1', 's?a=5&z=1', { a: '5' }],
    ['s{?a,ab}', 's?ab=1&a=2', { a: '2', ab: '1' }],
    ['{city}{?units}{#part}', 'oslo?units=c#now', { city: 'oslo', units: 'c', part: 'now' }],
    // Literals as the template has them, or as expansion encodes them.
    ['é/{a}', '%C3%A9/x', { a: 'x' }],
    ['é/{a}', 'é/x', { a: 'x' }],
    // A variable more than once.
    ['{a}/{a}', 'x/x', { a: 'x' }],
    ['{a*}/{a*}', 'x,y/x,y', { a: ['x', 'y'] }],
    ['{.who,who}', '.fred.fred', { who: 'fred' }],
    ['{/var:1,var}', '/v/value', { var: 'value' }],
    ['{a:3}', 'abc', { a: 'abc' }],
    ['{a:1}/{a:3}', 'a/abc', { a: 'abc' }],
  ])('of the template %s reads the URI %s', (template, uri, expected) => {
    expect(match(template, uri)).toEqual(expected);
  });

  it.each([
    ['users://{id}', 'users://'],
    ['users://{id}', 'users://a/b'],
    ['users://{id}', 'users://a?b'],
    ['users://{id}', 'users://a#b'],
    ['users://{id}', 'users:/a'],
    ['users://{id}', 'USERS://a'],
    ['{a}x', 'abc'],
    ['{a}', 'a b'],
    ['{a}', 'a"b'],
    ['{a}', 'a[b]'],
    ['{a}', 'a\nb'],
    ['{a}', 'a\x85b'],
    ['{a}', 'a\uD83D'],
    ['{+a}', ''],
    ['{a,b}', '1'],
    ['{a,b}', '1,'],
    ['{list*}', 'a,,b'],
    ['{+list*}', 'a,,b'],
    ['db:{/a}', 'db:/1/2'],
    ['db:{/a}', 'db:1'],
    ['s{?q}', 's?'],
    ['s{?q}', 's?q=1&'],
    ['s{?q}', 's?q=1&q=2'],
    ['s{?q}', 's?other=1'],
    ['s{?q}', 's?q=1&other=2'],
    ['s{?q}', 's?qq=1'],
    ['s{?q}', 's&q=1'],
    ['s{&q}', 's?q=1'],
    ['s{?q}', 's?q=1#x'],
    ['p{;a}', 'p;b=1'],
    ['{a}/{a}', 'x/y'],
    ['{a*}/{a*}', 'x,y/x,z'],
    ['{a*}/{a}', 'x/x'],
    ['{a*}/{a:1}', 'x/x'],
    ['{/var:1,var}', '/x/value'],
    ['{a:3}', 'abcd'],
    ['plain', 'plain2'],
    ['plain', 'plai'],
  ])('of the template %s does not read the URI %s', (template, uri) => {
    expect(match(template, uri)).toBeUndefined();
  });

  it.each([
    '%',
    '%4',
    '%zz',
    'a%',
    '%C3',
    '%C3%28',
    '%C3x',
    '%80',
    '%C0%AF',
    '%E0%80%AF',
    '%ED%A0%80',
    '%F4%90%80%80',
    '%FF',
  ])('does not read a URI with the malformed %s', (text) => {
    for (const template of ['x{a}', 'x{+a}', 'x{a}{b}']) expect(match(template, `x${text}`)).toBeUndefined();
    expect(match('x{?a}', `x?a=${text}`)).toBeUndefined();
  });

  it('reads the least and greatest printable character of each length of UTF-8', () => {
    for (const point of [0x20, 0x7e, 0xa0, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
      const value = String.fromCodePoint(point);
      expect(match('{a}', encodeURIComponent(value))).toEqual({ a: value });
    }
  });

  it('reads no URI of more than 8192 characters', () => {
    expect(match('{a}', 'a'.repeat(8192))).toBeDefined();
    expect(match('{a}', 'a'.repeat(8193))).toBeUndefined();
  });
});

describe('the protection against path traversal', () => {
  const dots = ['..', '.', '%2e%2e', '%2E.', '.%2e', '%2e'];

  it.each(['x/{a}', 'x{/a}', 'x{/a*}', 'x{?a}', 'x{;a}', 'x{.a}', 'x/{a,b}', 'x/{+a}', 'x{#a}'])(
    'keeps %s from reading a dot segment',
    (template) => {
      for (const dot of dots) {
        const uri = parseTemplate(template).expand({ a: 'VALUE', b: 'b' });
        expect(match(template, uri)).toBeDefined();
        expect(match(template, uri.replace('VALUE', dot))).toBeUndefined();
      }
    },
  );

  it.each([
    'a%2fb',
    'a%2Fb',
    '..%2f',
    '%2e%2e%2fetc',
    'a%5cb',
    '..%5C',
    'a%00',
    '%00',
    'a%0d',
    '%0Ab',
    'a%09b',
    'a%7F',
    'a%C2%85b',
  ])('keeps %s out of simple values', (text) => {
    for (const template of ['x/{a}', 'x{/a}', 'x{/a*}', 'x{.a}']) {
      expect(match(template, `${template.slice(0, template.indexOf('{'))}/${text}`)).toBeUndefined();
    }
    expect(match('x{?a}', `x?a=${text}`)).toBeUndefined();
    expect(match('x{;a*}', `x;a=ok;a=${text}`)).toBeUndefined();
  });

  it.each([
    '../etc',
    'a/../b',
    'a/..',
    'a/./b',
    './a',
    'a/%2e%2e/b',
    'a%2f..%2fb',
    'a%5c..%5cb',
    'a/..%5cb',
    '%2e%2e%2fetc',
    'a%00b',
    'a%0Db',
    'a/b%0A',
    '%7f',
    'a%C2%9Fb',
  ])('keeps %s out of reserved values', (text) => {
    expect(match('file:///{+path}', `file:///${text}`)).toBeUndefined();
    expect(match('doc{#part}', `doc#${text}`)).toBeUndefined();
  });

  it('accepts names that only look like dots', () => {
    expect(match('{+p}', 'a/.../b')).toEqual({ p: 'a/.../b' });
    expect(match('{+p}', '.git/config..old')).toEqual({ p: '.git/config..old' });
    expect(match('{p}', '..a')).toEqual({ p: '..a' });
  });

  it('decodes a URI only once', () => {
    expect(match('x/{a}', 'x/%252e%252e%252f')).toEqual({ a: '%2e%2e%2f' });
    expect(match('x/{+a}', 'x/%252e%252e/%2541')).toEqual({ a: '%2e%2e/%41' });
  });

  it('holds for any URI: no value has a control character or a dot segment, and only reserved values have slashes', () => {
    const piece = fc.constantFrom(
      '.',
      '..',
      '/',
      '\\',
      '%2e',
      '%2f',
      '%5c',
      '%00',
      '%0a',
      '%7f',
      '%25',
      '2e',
      'a',
      '?',
      'b=',
      '&',
      ';',
      ',',
      '#',
      '%',
    );
    const templates = [
      'x{a}',
      'x{+a}',
      'x{/a*}',
      'x{/a,b}',
      'x{?b}',
      'x{;b*}',
      'x{a,b}{.c}',
      'x{a}{#b}',
      'x{+a}/{b}{?c}',
    ];
    const reserved = new Set(['x{+a}', 'x{a}{#b}', 'x{+a}/{b}{?c}']);
    const bad = (value: string): boolean =>
      /\p{Cc}/u.test(value) || value.split(/[/\\]/).some((part) => part === '.' || part === '..');
    fc.assert(
      fc.property(fc.constantFrom(...templates), fc.array(piece, { maxLength: 8 }), (template, pieces) => {
        const variables = match(template, `x${pieces.join('')}`) ?? {};
        for (const value of Object.values(variables).flat()) {
          expect(bad(value)).toBe(false);
          if (!reserved.has(template)) expect(value).not.toMatch(/[/\\]/);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('names that every object inherits', () => {
  it('are ordinary variable names, on an object without a prototype', () => {
    const variables = parseTemplate('{__proto__}/{constructor}{?toString*}').match('a/b?toString=c');
    expect(Object.getPrototypeOf(variables)).toBeNull();
    expect(Object.keys(variables ?? {})).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.values(variables ?? {})).toEqual(['a', 'b', ['c']]);
    expect(Object.prototype).not.toHaveProperty('a');
  });

  it('have no value if the URI has none', () => {
    expect(parseTemplate('x{?toString}').match('x')?.['toString']).toBeUndefined();
  });
});

describe('matching an expanded URI', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 8 })
    .filter((value) => !/[/\\\p{Cc}]/u.test(value) && value !== '.' && value !== '..');
  const word = text.filter((value) => value !== '');
  // A triplet in a reserved value is kept as it is, and is then read as the character it encodes.
  const path = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 8 })
    .filter(
      (value) =>
        !/[%\p{Cc}]/u.test(value) && !value.split(/[/\\]/).some((part) => part === '.' || part === '..'),
    );
  const words = fc.array(word, { minLength: 1, maxLength: 4 });
  const noDot = word.filter((value) => !value.includes('.'));

  const cases: [string, Record<string, fc.Arbitrary<string | string[] | undefined>>][] = [
    ['res://{a}/{b}', { a: word, b: word }],
    ['res://{a,b}', { a: word, b: word }],
    ['res://{a*}', { a: words }],
    ['file:///{+path}', { path }],
    ['doc://x{#part}', { part: fc.option(path, { nil: undefined }) }],
    ['doc://{name}{.ext}', { name: noDot, ext: fc.option(text, { nil: undefined }) }],
    ['www{.labels*}', { labels: fc.array(noDot, { minLength: 1 }) }],
    ['db:{/a}/end', { a: fc.option(text, { nil: undefined }) }],
    ['db:{/a*}', { a: fc.array(text, { minLength: 1 }) }],
    ['p{;a,b}', { a: text, b: fc.option(text, { nil: undefined }) }],
    ['s{?q,limit}', { q: fc.option(text, { nil: undefined }), limit: fc.option(text, { nil: undefined }) }],
    ['s{?tags*,q}', { tags: fc.option(words, { nil: undefined }), q: text }],
    ['s?fixed=1{&x,y}#{z}', { x: fc.option(text, { nil: undefined }), y: text, z: word }],
    ['x://{host}{/path*}{?q}{#f}', { host: word, path: words, q: text, f: path }],
  ];

  it.each(cases)('restores the values of %s', (template, values) => {
    const parsed = parseTemplate(template);
    fc.assert(
      fc.property(fc.record(values), (record) => {
        const present = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
        expect({ ...parsed.match(parsed.expand(record)) }).toEqual(present);
      }),
    );
  });

  it('splits a URI as a lazy regular expression would', () => {
    const subject = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.'), maxLength: 12 });
    const dots = (value: string | undefined): boolean => value === '.' || value === '..';
    fc.assert(
      fc.property(subject, (uri) => {
        const oracle = /^([ab.-]+?)-([ab.-]+?)\.([ab.-]+?)$/.exec(uri);
        const expected =
          oracle === null || oracle.some(dots) ? undefined : { x: oracle[1], y: oracle[2], z: oracle[3] };
        expect(match('{x}-{y}.{z}', uri)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the time of a match', () => {
  // With backtracking each of these takes polynomial time.
  it.each([
    ['{a}{b}{c}{d}{e}x', (n: number) => 'a'.repeat(n)],
    ['{+a}/{+b}/{+c}/{+d}!', (n: number) => '/'.repeat(n)],
    ['{a*}{b*}{c*}x', (n: number) => 'a,'.repeat(n / 2)],
    ['x{?a*,aa*}{&a*}y', (n: number) => `x?a=1${'&a=1'.repeat(n / 4)}`],
    ['{a}aaaaaaaaab', (n: number) => 'a'.repeat(n)],
    ['{+a}', (n: number) => '%C3%A9'.repeat(n / 6)],
  ])('grows less than quadratically with the length of a URI for %s', (template, make) => {
    const parsed = parseTemplate(template);
    expect(growth((uri: string) => parsed.match(uri), make(792), make(7920))).toBeLessThan(40);
  });
});
