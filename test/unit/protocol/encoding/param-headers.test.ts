import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkParamHeaders,
  decodeHeaderValue,
  encodeHeaderValue,
  findParamHeaders,
  paramHeaderValue,
} from '../../../../src/protocol/encoding/param-headers.js';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const object = (properties: object): object => ({ type: 'object', properties });
const problems = (schema: object): readonly string[] => findParamHeaders(schema).problems;

describe('findParamHeaders', () => {
  it('finds an annotated property', () => {
    const schema = { ...object({ region, query: { type: 'string' } }), required: ['region', 'query'] };
    expect(findParamHeaders(schema)).toEqual({
      paramHeaders: [{ name: 'Region', header: 'mcp-param-region', path: ['region'], type: 'string' }],
      problems: [],
    });
  });

  it('finds nested properties, each primitive type, and a type that may be null', () => {
    const schema = object({
      deep: object({
        flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
        deeper: object({ count: { type: ['integer', 'null'], 'x-mcp-header': 'count!' } }),
      }),
      method: { type: 'string', 'x-mcp-header': 'Method' },
    });
    expect(findParamHeaders(schema)).toEqual({
      paramHeaders: [
        { name: 'Flag', header: 'mcp-param-flag', path: ['deep', 'flag'], type: 'boolean' },
        { name: 'count!', header: 'mcp-param-count!', path: ['deep', 'deeper', 'count'], type: 'integer' },
        { name: 'Method', header: 'mcp-param-method', path: ['method'], type: 'string' },
      ],
      problems: [],
    });
  });

  it('finds nothing in a schema without annotations, or with the keyword in data', () => {
    const schema = {
      ...object({
        'x-mcp-header': { type: 'string' },
        a: { type: 'string', default: { 'x-mcp-header': '' } },
      }),
      examples: [{ properties: { a: { 'x-mcp-header': '' } } }],
      additionalProperties: false,
    };
    expect(findParamHeaders(schema)).toEqual({ paramHeaders: [], problems: [] });
    expect(findParamHeaders({})).toEqual({ paramHeaders: [], problems: [] });
  });

  it.each([
    ['', /must not be empty/],
    [7, /must be a string/],
    [null, /must be a string/],
    ['My Region', /not a header name/],
    ['Region:Primary', /not a header name/],
    ['Région', /not a header name/],
    ['Region\t1', /not a header name/],
    ['Region\r\nX: y', /not a header name/],
    ['Region\n', /not a header name/],
  ])('rejects the name %j', (name, why) => {
    const result = findParamHeaders(
      object({ outer: object({ inner: { type: 'string', 'x-mcp-header': name } }) }),
    );
    expect(result.paramHeaders).toEqual([]);
    expect(result.problems).toEqual([expect.stringMatching(why)]);
    expect(result.problems[0]).toContain("'outer.inner'");
  });

  it.each(['Region', 'REGION'])('rejects Region and %s together, with the place of each', (second) => {
    const schema = object({ a: region, b: object({ c: { type: 'string', 'x-mcp-header': second } }) });
    expect(findParamHeaders(schema).paramHeaders).toHaveLength(1);
    expect(problems(schema)).toEqual([expect.stringMatching(/'b\.c'.*taken by property 'a'/)]);
  });

  it.each([
    ['number', /type "number"/],
    ['array', /needs a property whose "type"/],
    ['object', /needs a property whose "type"/],
    ['null', /needs a property whose "type"/],
    [undefined, /needs a property whose "type"/],
    [['string', 'integer'], /needs a property whose "type"/],
    [['null', 'null'], /needs a property whose "type"/],
  ])('rejects the type %j', (type, why) => {
    const schema = object({ a: { type, 'x-mcp-header': 'A' } });
    expect(findParamHeaders(schema)).toEqual({ paramHeaders: [], problems: [expect.stringMatching(why)] });
  });

  it.each([
    ['items', object({ list: { type: 'array', items: region } })],
    ['items as an array', object({ list: { type: 'array', items: [region] } })],
    ['prefixItems', object({ list: { type: 'array', prefixItems: [region] } })],
    ['contains', object({ list: { type: 'array', contains: object({ region }) } })],
    ['oneOf', { oneOf: [object({ region })] }],
    ['anyOf', object({ a: { anyOf: [{ type: 'null' }, region] } })],
    ['allOf', { allOf: [object({ region })] }],
    ['not', { not: object({ region }) }],
    ['if', { if: object({ region }) }],
    ['then', Object.fromEntries([['then', object({ region })]])],
    ['else', { if: {}, else: object({ region }) }],
    ['$defs', { ...object({ a: { $ref: '#/$defs/r' } }), $defs: { r: region } }],
    ['definitions', { definitions: { r: object({ region }) } }],
    ['additionalProperties', { additionalProperties: region }],
    ['patternProperties', { patternProperties: { '^a': region } }],
    ['dependentSchemas', { dependentSchemas: { a: object({ region }) } }],
    ['the root', { ...object({}), ...region }],
  ])('rejects an annotation in %s', (_, schema) => {
    const result = findParamHeaders(schema);
    expect(result.paramHeaders).toEqual([]);
    expect(result.problems).toEqual([
      expect.stringMatching(/reached from the root through "properties" alone/),
    ]);
  });

  it('names the place of a rejected annotation', () => {
    const schema = object({ list: { items: { properties: { region } } } });
    expect(problems(schema)[0]).toMatch(
      /^Property 'list'\.items\.properties\.region: x-mcp-header must be on/,
    );
  });

  it('reports every problem, not only the first', () => {
    const schema = object({ a: { type: 'number', 'x-mcp-header': 'A' }, b: { items: region }, c: region });
    expect(problems(schema)).toHaveLength(2);
    expect(findParamHeaders(schema).paramHeaders).toHaveLength(1);
  });

  it('stops at the maximum depth, and reports that', () => {
    let deep: object = region;
    for (let level = 0; level < 100_000; level++) deep = object({ a: deep });
    expect(problems(deep)).toEqual([expect.stringMatching(/deeper than 64 levels/)]);
    let fine: object = region;
    for (let level = 0; level < 64; level++) fine = object({ a: fine });
    expect(findParamHeaders(fine).paramHeaders).toHaveLength(1);
  });

  it('treats names that every object inherits as ordinary names', () => {
    const schema = JSON.parse('{"properties":{"__proto__":{"type":"string","x-mcp-header":"P"}}}');
    const { paramHeaders } = findParamHeaders(schema);
    expect(paramHeaders.map(({ path }) => path)).toEqual([['__proto__']]);
    expect(checkParamHeaders(paramHeaders, {}, () => undefined)).toBeUndefined();
    expect(checkParamHeaders(paramHeaders, JSON.parse('{"__proto__":"x"}'), () => 'x')).toBeUndefined();
  });
});

// The tables of the specification and of SEP-2243.
const encodings: [value: string | number | boolean, header: string][] = [
  ['us-west1', 'us-west1'],
  ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
  [' padded ', '=?base64?IHBhZGRlZCA=?='],
  ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
  ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  [' us-west1', '=?base64?IHVzLXdlc3Qx?='],
  ['us-west1 ', '=?base64?dXMtd2VzdDEg?='],
  ['us west 1', 'us west 1'],
  ['日本語', '=?base64?5pel5pys6Kqe?='],
  ['line1\r\nline2', '=?base64?bGluZTENCmxpbmUy?='],
  ['\tindented', '=?base64?CWluZGVudGVk?='],
  ['', ''],
  ['a\tb', 'a\tb'],
  ['\x7f', '=?base64?fw==?='],
  ['=?base64?=', '=?base64?PT9iYXNlNjQ/PQ==?='],
  ['=?base64?open', '=?base64?open'],
  ['=?BASE64?x?=', '=?BASE64?x?='],
  ['file:///path/to/file%20name.txt', 'file:///path/to/file%20name.txt'],
  [true, 'true'],
  [false, 'false'],
  [42, '42'],
  [-7, '-7'],
  [-0, '0'],
  [2.5, '2.5'],
];

describe('encodeHeaderValue', () => {
  it.each(encodings)('encodes %j as %j', (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
  });

  it('turns any string into a valid header that can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const header = encodeHeaderValue(text);
        const { value } = Object.fromEntries(new Headers({ value: header }));
        expect(decodeHeaderValue(value ?? '')).toBe(text);
      }),
    );
  });

  it('keeps a byte order mark', () => {
    expect(decodeHeaderValue(encodeHeaderValue('\uFEFFa'))).toBe('\uFEFFa');
  });
});

describe('decodeHeaderValue', () => {
  it.each(encodings)('reads %j from %j', (value, header) => {
    expect(decodeHeaderValue(header)).toBe(Object.is(value, -0) ? '0' : String(value));
  });

  it.each([
    ['=?base64?SGVsbG8=?=', 'Hello'],
    ['=?base64??=', ''],
    ['SGVsbG8=', 'SGVsbG8='],
    ['=?base64?SGVsbG8=', '=?base64?SGVsbG8='],
    ['SGVsbG8=?=', 'SGVsbG8=?='],
    ['=?BASE64?SGVsbG8=?=', '=?BASE64?SGVsbG8=?='],
    ['  foo\t', 'foo'],
  ])('reads %j as %j', (header, value) => {
    expect(decodeHeaderValue(header)).toBe(value);
  });

  it.each([
    '=?base64?SGVsbG8?=',
    '=?base64?SGVs!!!bG8=?=',
    '=?base64?SGVs bG8=?=',
    '=?base64?SGVsbG8_?=',
    '=?base64?/w==?=',
    '=?base64?wK8=?=',
    '=?base64?=',
    'Région',
    'a\nb',
    'a\0b',
    'a\x7fb',
    '\n',
  ])('rejects the malformed %j', (header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });
});

describe('checkParamHeaders', () => {
  const { paramHeaders } = findParamHeaders(
    object({
      region,
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      deep: object({ flag: { type: 'boolean', 'x-mcp-header': 'Flag' } }),
    }),
  );
  const check = (args: unknown, headers: Record<string, string>): string | undefined =>
    checkParamHeaders(paramHeaders, args, (name) => headers[name]);

  it('accepts headers that agree with the body', () => {
    const args = { region: 'us-west1', count: 42, deep: { flag: false }, other: 1 };
    const headers = { 'mcp-param-region': 'us-west1', 'mcp-param-count': '42', 'mcp-param-flag': 'false' };
    expect(check(args, headers)).toBeUndefined();
    expect(
      check({ region: 'Hello, 世界' }, { 'mcp-param-region': '=?base64?SGVsbG8sIOS4lueVjA==?=' }),
    ).toBeUndefined();
    expect(check({ region: '' }, { 'mcp-param-region': '' })).toBeUndefined();
  });

  it.each([
    [{}],
    [{ region: null, deep: null }],
    [{ deep: { flag: null } }],
    [undefined],
    [null],
    [[]],
    ['text'],
    [{ deep: 'x' }],
  ])('accepts a missing value on both sides: %j', (args) => {
    expect(check(args, {})).toBeUndefined();
  });

  it('rejects another value, and compares case', () => {
    expect(check({ region: 'y' }, { 'mcp-param-region': 'x' })).toBe(
      "Mcp-Param-Region header value 'x' does not match body value 'y'",
    );
    expect(check({ region: 'a' }, { 'mcp-param-region': 'A' })).toBeDefined();
    expect(check({ deep: { flag: true } }, { 'mcp-param-flag': 'True' })).toBeDefined();
    expect(check({ deep: { flag: true } }, { 'mcp-param-flag': '1' })).toBeDefined();
    expect(check({ region: 'a' }, { 'mcp-param-region': 'a, a' })).toBeDefined();
  });

  it('compares the decoded value, never the raw one', () => {
    const sentinel = '=?base64?Zm9v?=';
    expect(check({ region: sentinel }, { 'mcp-param-region': sentinel })).toContain("'foo'");
    expect(check({ region: 'foo' }, { 'mcp-param-region': sentinel })).toBeUndefined();
  });

  it('rejects a value whose header is missing', () => {
    expect(check({ region: 'us-west1' }, {})).toMatch(/^Mcp-Param-Region header is missing/);
    expect(check({ region: '' }, {})).toBeDefined();
    expect(check({ deep: { flag: false } }, {})).toMatch(/^Mcp-Param-Flag/);
    expect(check({ count: 0 }, {})).toMatch(/^Mcp-Param-Count/);
  });

  it('rejects a header without a value in the body', () => {
    for (const args of [{}, { region: null }, undefined]) {
      expect(check(args, { 'mcp-param-region': 'x' })).toMatch(
        /Mcp-Param-Region header value 'x' is not in the body/,
      );
    }
  });

  it('rejects a malformed header', () => {
    expect(check({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' })).toMatch(/malformed/);
    expect(check({ region: 'é' }, { 'mcp-param-region': 'é' })).toMatch(/malformed/);
  });

  it.each(['42', '42.0', '042', '42.000'])('accepts %s for 42', (text) => {
    expect(check({ count: 42 }, { 'mcp-param-count': text })).toBeUndefined();
  });

  it.each(['', '43', '42.5', '42.00000000000000000001', '0x2a', '4.2e1', '+42', '4 2', 'NaN', '٤٢'])(
    'does not accept %j for 42',
    (text) => {
      expect(check({ count: 42 }, { 'mcp-param-count': text })).toBeDefined();
    },
  );

  it('does not treat numbers as equal that differ in digits that a double loses', () => {
    expect(check({ count: 2 ** 53 }, { 'mcp-param-count': '9007199254740993' })).toBeDefined();
    expect(check({ count: 2 ** 53 - 1 }, { 'mcp-param-count': '9007199254740991' })).toBeUndefined();
    expect(check({ count: -7 }, { 'mcp-param-count': '-7' })).toBeUndefined();
    expect(check({ count: 0 }, { 'mcp-param-count': '-0' })).toBeUndefined();
  });

  it('leaves a wrong primitive type in the body to the schema, but rejects arrays and objects', () => {
    expect(check({ count: '42' }, { 'mcp-param-count': '42' })).toBeUndefined();
    expect(check({ count: 1.5 }, { 'mcp-param-count': '1.5' })).toBeUndefined();
    expect(check({ region: ['a'] }, { 'mcp-param-region': 'a' })).toBeDefined();
    expect(check({ region: {} }, { 'mcp-param-region': '[object Object]' })).toBeDefined();
  });

  it('does not repeat a long value in full', () => {
    expect(
      check({ region: 'a'.repeat(9999) }, { 'mcp-param-region': 'b'.repeat(9999) })?.length,
    ).toBeLessThan(400);
  });

  it('accepts the headers that a client sends for any arguments', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.boolean());
    fc.assert(
      fc.property(value, value, (region, flag) => {
        const args = { region, deep: { flag } };
        const sent = paramHeaders.flatMap((paramHeader) => {
          const value = paramHeaderValue(paramHeader, args);
          return value === undefined ? [] : [[paramHeader.header, encodeHeaderValue(value as string)]];
        });
        expect(sent).toHaveLength(2);
        expect(check(args, Object.fromEntries(sent))).toBeUndefined();
      }),
    );
  });
});
