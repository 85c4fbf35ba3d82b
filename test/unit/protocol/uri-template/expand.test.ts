import { describe, expect, it } from 'vitest';
import { isTemplate, parseTemplate } from '../../../../src/protocol/uri-template/template.js';

// The variables and examples of RFC 6570, section 3.2.
const values = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: undefined,
  // Section 2.4.
  semi: ';',
  year: ['1965', '2000', '2012'],
};

const sections: Record<string, Record<string, string>> = {
  '2.4.1 prefixes': {
    '{var}': 'value',
    '{var:20}': 'value',
    '{var:3}': 'val',
    '{semi}': '%3B',
    '{semi:2}': '%3B',
  },
  '2.4.2 explode': {
    'find{?year*}': 'find?year=1965&year=2000&year=2012',
    'www{.dom*}': 'www.example.com',
  },
  '3.2.1 variables': {
    '{count}': 'one,two,three',
    '{count*}': 'one,two,three',
    '{/count}': '/one,two,three',
    '{/count*}': '/one/two/three',
    '{;count}': ';count=one,two,three',
    '{;count*}': ';count=one;count=two;count=three',
    '{?count}': '?count=one,two,three',
    '{?count*}': '?count=one&count=two&count=three',
    '{&count*}': '&count=one&count=two&count=three',
  },
  '3.2.2 simple string expansion': {
    '{var}': 'value',
    '{hello}': 'Hello%20World%21',
    '{half}': '50%25',
    'O{empty}X': 'OX',
    'O{undef}X': 'OX',
    '{x,y}': '1024,768',
    '{x,hello,y}': '1024,Hello%20World%21,768',
    '?{x,empty}': '?1024,',
    '?{x,undef}': '?1024',
    '?{undef,y}': '?768',
    '{var:3}': 'val',
    '{var:30}': 'value',
    '{list}': 'red,green,blue',
    '{list*}': 'red,green,blue',
    '{keys}': 'semi,%3B,dot,.,comma,%2C',
    '{keys*}': 'semi=%3B,dot=.,comma=%2C',
  },
  '3.2.3 reserved expansion': {
    '{+var}': 'value',
    '{+hello}': 'Hello%20World!',
    '{+half}': '50%25',
    '{base}index': 'http%3A%2F%2Fexample.com%2Fhome%2Findex',
    '{+base}index': 'http://example.com/home/index',
    'O{+empty}X': 'OX',
    'O{+undef}X': 'OX',
    '{+path}/here': '/foo/bar/here',
    'here?ref={+path}': 'here?ref=/foo/bar',
    'up{+path}{var}/here': 'up/foo/barvalue/here',
    '{+x,hello,y}': '1024,Hello%20World!,768',
    '{+path,x}/here': '/foo/bar,1024/here',
    '{+path:6}/here': '/foo/b/here',
    '{+list}': 'red,green,blue',
    '{+list*}': 'red,green,blue',
    '{+keys}': 'semi,;,dot,.,comma,,',
    '{+keys*}': 'semi=;,dot=.,comma=,',
  },
  '3.2.4 fragment expansion': {
    '{#var}': '#value',
    '{#hello}': '#Hello%20World!',
    '{#half}': '#50%25',
    'foo{#empty}': 'foo#',
    'foo{#undef}': 'foo',
    '{#x,hello,y}': '#1024,Hello%20World!,768',
    '{#path,x}/here': '#/foo/bar,1024/here',
    '{#path:6}/here': '#/foo/b/here',
    '{#list}': '#red,green,blue',
    '{#list*}': '#red,green,blue',
    '{#keys}': '#semi,;,dot,.,comma,,',
    '{#keys*}': '#semi=;,dot=.,comma=,',
  },
  '3.2.5 label expansion': {
    '{.who}': '.fred',
    '{.who,who}': '.fred.fred',
    '{.half,who}': '.50%25.fred',
    'www{.dom*}': 'www.example.com',
    'X{.var}': 'X.value',
    'X{.empty}': 'X.',
    'X{.undef}': 'X',
    'X{.var:3}': 'X.val',
    'X{.list}': 'X.red,green,blue',
    'X{.list*}': 'X.red.green.blue',
    'X{.keys}': 'X.semi,%3B,dot,.,comma,%2C',
    'X{.keys*}': 'X.semi=%3B.dot=..comma=%2C',
    'X{.empty_keys}': 'X',
    'X{.empty_keys*}': 'X',
  },
  '3.2.6 path segment expansion': {
    '{/who}': '/fred',
    '{/who,who}': '/fred/fred',
    '{/half,who}': '/50%25/fred',
    '{/who,dub}': '/fred/me%2Ftoo',
    '{/var}': '/value',
    '{/var,empty}': '/value/',
    '{/var,undef}': '/value',
    '{/var,x}/here': '/value/1024/here',
    '{/var:1,var}': '/v/value',
    '{/list}': '/red,green,blue',
    '{/list*}': '/red/green/blue',
    '{/list*,path:4}': '/red/green/blue/%2Ffoo',
    '{/keys}': '/semi,%3B,dot,.,comma,%2C',
    '{/keys*}': '/semi=%3B/dot=./comma=%2C',
  },
  '3.2.7 path-style parameter expansion': {
    '{;who}': ';who=fred',
    '{;half}': ';half=50%25',
    '{;empty}': ';empty',
    '{;v,empty,who}': ';v=6;empty;who=fred',
    '{;v,bar,who}': ';v=6;who=fred',
    '{;x,y}': ';x=1024;y=768',
    '{;x,y,empty}': ';x=1024;y=768;empty',
    '{;x,y,undef}': ';x=1024;y=768',
    '{;hello:5}': ';hello=Hello',
    '{;list}': ';list=red,green,blue',
    '{;list*}': ';list=red;list=green;list=blue',
    '{;keys}': ';keys=semi,%3B,dot,.,comma,%2C',
    '{;keys*}': ';semi=%3B;dot=.;comma=%2C',
  },
  '3.2.8 form-style query expansion': {
    '{?who}': '?who=fred',
    '{?half}': '?half=50%25',
    '{?x,y}': '?x=1024&y=768',
    '{?x,y,empty}': '?x=1024&y=768&empty=',
    '{?x,y,undef}': '?x=1024&y=768',
    '{?var:3}': '?var=val',
    '{?list}': '?list=red,green,blue',
    '{?list*}': '?list=red&list=green&list=blue',
    '{?keys}': '?keys=semi,%3B,dot,.,comma,%2C',
    '{?keys*}': '?semi=%3B&dot=.&comma=%2C',
  },
  '3.2.9 form-style query continuation': {
    '{&who}': '&who=fred',
    '{&half}': '&half=50%25',
    '?fixed=yes{&x}': '?fixed=yes&x=1024',
    '{&x,y,empty}': '&x=1024&y=768&empty=',
    '{&x,y,undef}': '&x=1024&y=768',
    '{&var:3}': '&var=val',
    '{&list}': '&list=red,green,blue',
    '{&list*}': '&list=red&list=green&list=blue',
    '{&keys}': '&keys=semi,%3B,dot,.,comma,%2C',
    '{&keys*}': '&semi=%3B&dot=.&comma=%2C',
  },
};

describe.each(Object.entries(sections))('expand, RFC 6570 section %s', (_, examples) => {
  it.each(Object.entries(examples))('expands %s to %s', (template, expected) => {
    expect(parseTemplate(template).expand(values)).toBe(expected);
  });
});

describe('expand', () => {
  const expand = (
    template: string,
    values: Parameters<ReturnType<typeof parseTemplate>['expand']>[0],
  ): string => parseTemplate(template).expand(values);

  it('encodes as UTF-8, and a lone surrogate as U+FFFD', () => {
    expect(expand('{a}', { a: 'é€😀' })).toBe('%C3%A9%E2%82%AC%F0%9F%98%80');
    expect(expand('{a}', { a: 'x\uD83Dy\uDE00' })).toBe('x%EF%BF%BDy%EF%BF%BD');
    expect(expand('/é/{a}', { a: "!*'()" })).toBe('/%C3%A9/%21%2A%27%28%29');
  });

  it('counts a prefix in code points and does not cut one in two', () => {
    expect(expand('{a:1}', { a: '😀😀' })).toBe('%F0%9F%98%80');
    expect(expand('{a:2}', { a: '%41' })).toBe('%254');
    expect(expand('{+a:2}', { a: 'x%C3%A9y' })).toBe('x%C3%A9');
  });

  it('keeps triplets in reserved expansion and nowhere else', () => {
    expect(expand('{+a}{b}', { a: '%2f%zz%', b: '%2f' })).toBe('%2f%25zz%25%252f');
    expect(expand('%41/{b}', { b: 'x' })).toBe('%41/x');
  });

  it('omits an empty array and an empty object', () => {
    expect(expand('a{?b,c*}', { b: [], c: {} })).toBe('a');
    expect(expand('a{?b*}', { b: ['', 'x'] })).toBe('a?b=&b=x');
    expect(expand('a{;b*}', { b: { k: '' } })).toBe('a;k');
  });

  it('rejects a prefix of an array or an object', () => {
    expect(() => expand('{a:3}', { a: ['x'] })).toThrow(/\{a:3\}/);
    expect(() => expand('{a:3}', { a: { x: 'y' } })).toThrow(RangeError);
  });

  it('finds no value for names that every object inherits', () => {
    expect(expand('x{toString}{__proto__}{constructor}', {})).toBe('x');
  });
});

describe('parseTemplate', () => {
  it('lists each variable once, in order', () => {
    expect(parseTemplate('a').variables).toEqual([]);
    expect(parseTemplate('{b}/{a}{?b,c*,d.e:3,%41_9}').variables).toEqual(['b', 'a', 'c', 'd.e', '%41_9']);
  });

  it.each([
    ['a{', 1, /never closed/],
    ['a{b', 1, /never closed/],
    ['a}b', 1, /never opened/],
    ['{}', 1, /name is missing/],
    ['{+}', 2, /name is missing/],
    ['{a,}', 3, /name is missing/],
    ['{,a}', 1, /reserves the operator/],
    ['{a,,b}', 3, /name is missing/],
    ['{!a}', 1, /reserves the operator "!"/],
    ['{=a}', 1, /reserves/],
    ['{|a}', 1, /reserves/],
    ['{a b}', 2, /" " is not allowed/],
    ['{a-b}', 2, /"-" is not allowed/],
    ['{é}', 1, /name is missing/],
    ['{a{b}}', 2, /"\{" is not allowed/],
    ['{.a.}', 3, /dot/],
    ['{a..b}', 2, /dot/],
    ['{a:0}', 2, /from 1 to 9999/],
    ['{a:10000}', 2, /from 1 to 9999/],
    ['{a:}', 2, /from 1 to 9999/],
    ['{a:3*}', 2, /from 1 to 9999/],
    ['{a**}', 2, /is not allowed/],
    ['{a%4}', 2, /is not allowed/],
    ['a%4/{b}', 1, /two hexadecimal digits/],
    ['my docs/{b}', 2, /percent-encode/],
    ['a\n{b}', 1, /percent-encode/],
    ['a<{b}', 1, /percent-encode/],
    ['a\\{b}', 1, /percent-encode/],
  ])('rejects %j at position %i', (text, position, why) => {
    expect(() => parseTemplate(text)).toThrow(RangeError);
    expect(() => parseTemplate(text)).toThrow(`at position ${position}:`);
    expect(() => parseTemplate(text)).toThrow(why);
  });

  it('rejects a template of more than 8192 characters', () => {
    expect(() => parseTemplate('a'.repeat(8193))).toThrow(RangeError);
    expect(parseTemplate('a'.repeat(8192)).variables).toEqual([]);
  });
});

describe('isTemplate', () => {
  it.each(['{a}', 'x://{+y}/z', 'a{?b}', '{'.concat('}')])('accepts %s', (text) => {
    expect(isTemplate(text)).toBe(true);
  });

  it.each(['', 'file:///a', 'a{b', 'a}b', '}{'])('rejects %s', (text) => {
    expect(isTemplate(text)).toBe(false);
  });
});
