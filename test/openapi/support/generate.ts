import type { Random } from './random.js';

// Generates a document with operations of every style, and for each operation arguments and what the server must receive.

type Shape = 'text' | 'number' | 'flag' | 'list' | 'object';
type BodyForm = 'json' | 'json-nested' | 'form' | 'multipart' | 'text' | 'bytes';

export interface WireParameter {
  readonly place: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly style: string;
  readonly explode: boolean;
  readonly shape: Shape;
  readonly isContent: boolean;
  readonly value: unknown;
}

interface WireBody {
  readonly form: BodyForm;
  readonly value: unknown;
}

/** An operation, the arguments of one call, and the request that they must give. */
export interface Expectation {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly WireParameter[];
  readonly body: WireBody | undefined;
  readonly credential: { readonly place: string; readonly name: string; readonly value: string } | undefined;
}

const styles = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const;

const NASTY = [
  'a/b',
  '..',
  '../../admin',
  '?x=1',
  '#top',
  'a b',
  '100%',
  '%2e%2e',
  'a&b=c',
  '1+1',
  'grüße',
  '日本',
  '😀',
  ';x=y',
  'a|b',
  '"q"',
  "it's",
  '{id}',
  '\\',
  '[0]',
  '<b>',
  '\u0000\n',
];
const PLAIN = ['blue', 'x', 'Hello-World', 'a_b', '42', 'true', 'null'];
const NAMES = [
  'id',
  'limit',
  'filter[name]',
  '$top',
  'größe',
  'a b',
  'X-Rate',
  'user.name',
  '__proto__',
  'constructor',
  'q',
  'body',
  'a'.repeat(80),
];

export function generateDocument(
  random: Random,
  count: number,
): { document: object; expectations: Expectation[] } {
  const paths: Record<string, Record<string, unknown>> = {};
  const expectations: Expectation[] = [];
  for (let id = 0; id < count; id++) {
    const { expectation, operation } = generateOperation(random, id);
    expectations.push(expectation);
    paths[expectation.path] = { [expectation.method]: operation };
  }
  const document = {
    openapi: random.chance(0.5) ? '3.0.3' : '3.1.0',
    info: { title: 'Generated', version: '1' },
    paths,
    components: {
      securitySchemes: {
        inHeader: { type: 'apiKey', in: 'header', name: 'X-Key' },
        inQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
        inCookie: { type: 'apiKey', in: 'cookie', name: 'session' },
        basic: { type: 'http', scheme: 'basic' },
        bearer: { type: 'http', scheme: 'bearer' },
        oauth: { type: 'oauth2', flows: {} },
      },
    },
  };
  return { document, expectations };
}

export const credentials = {
  inHeader: 'key in header',
  inQuery: 'key&in=query',
  inCookie: 'key;in cookie',
  basic: { username: 'ann', password: 'p:ä' },
  bearer: 'token-1',
  oauth: 'token-2',
} as const;

function generateOperation(random: Random, id: number): { expectation: Expectation; operation: object } {
  const method = random.pick(['get', 'put', 'post', 'delete', 'patch']);
  const used = new Set<string>();
  const parameters: WireParameter[] = [];
  const total = random.integer(5);
  for (let n = 0; n < total; n++) {
    const parameter = generateParameter(random, n);
    const key = `${parameter.place} ${parameter.name.toLowerCase()}`;
    if (used.has(key)) continue;
    used.add(key);
    parameters.push(parameter);
  }
  const inPath = parameters.filter(({ place }) => place === 'path');
  const path = `/op${id}${inPath.map(({ name }) => `/{${name}}`).join('')}/end`;
  const body = method === 'get' || random.chance(0.4) ? undefined : generateBody(random);
  const scheme = random.chance(0.3) ? random.pick(Object.keys(credentials)) : undefined;
  return {
    expectation: {
      id,
      method,
      path,
      parameters,
      body: body?.wire,
      credential: scheme === undefined ? undefined : credentialOf(scheme),
    },
    operation: {
      ...(random.chance(0.8) && { operationId: `op${id}` }),
      parameters: shuffled(random, parameters).map(declare),
      ...(body && { requestBody: { required: true, content: body.content } }),
      ...(scheme !== undefined && { security: [{ missing: [] }, { [scheme]: [] }] }),
      responses: {
        200: {
          description: 'ok',
          content: {
            'application/json': {
              schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
            },
          },
        },
      },
    },
  };
}

function credentialOf(scheme: string): Expectation['credential'] {
  const basic = `Basic ${Buffer.from('ann:p:ä').toString('base64')}`;
  return {
    inHeader: { place: 'header', name: 'x-key', value: 'key in header' },
    inQuery: { place: 'query', name: 'api_key', value: 'key&in=query' },
    inCookie: { place: 'cookie', name: 'session', value: 'key;in cookie' },
    basic: { place: 'header', name: 'authorization', value: basic },
    bearer: { place: 'header', name: 'authorization', value: 'Bearer token-1' },
    oauth: { place: 'header', name: 'authorization', value: 'Bearer token-2' },
  }[scheme];
}

function generateParameter(random: Random, n: number): WireParameter {
  const place = random.pick(['path', 'path', 'query', 'query', 'query', 'header', 'cookie'] as const);
  const style = random.pick<string>(styles[place]);
  const isContent = style !== 'deepObject' && place !== 'path' && random.chance(0.1);
  const shapes: readonly Shape[] =
    style === 'deepObject'
      ? ['object']
      : /Delimited/.test(style)
        ? ['list', 'object']
        : ['text', 'number', 'flag', 'list', 'object'];
  const shape = isContent ? random.pick(['object', 'list'] as const) : random.pick(shapes);
  const name =
    place === 'header'
      ? random.pick(['X-Rate', 'X-Trace', 'If-Match'])
      : place === 'path'
        ? random.pick(NAMES.filter((one) => !/[{}]/.test(one)))
        : random.pick(NAMES);
  // An exploded object gives pairs of its own, whose names must not be those of another parameter.
  return {
    ...{ place, name, style, shape, isContent },
    explode: isContent ? style === 'form' : random.chance(0.5),
    value: generateValue(random, shape, { place, style, isContent, prefix: `p${n}_` }),
  };
}

interface Where {
  readonly place: string;
  readonly style: string;
  readonly isContent: boolean;
  readonly prefix: string;
}

function generateValue(random: Random, shape: Shape, where: Where): unknown {
  const text = (): string => generateText(random, where);
  switch (shape) {
    case 'number':
      return random.integer(1000) - 500;
    case 'flag':
      return random.chance(0.5);
    case 'list':
      return Array.from({ length: 1 + random.integer(3) }, text);
    case 'object':
      return Object.fromEntries(
        ['R', 'G'].slice(0, 1 + random.integer(2)).map((key) => [`${where.prefix}${key}`, text()]),
      );
    default:
      return text();
  }
}

function generateText(random: Random, { place, style, isContent }: Where): string {
  if (place === 'header') return random.pick(PLAIN);
  if (place === 'path' && style === 'label') return random.pick([...PLAIN, 'a/b', 'a b', '?x', '#y', 'ü']);
  // A value with the character that separates values is refused.
  if (style.endsWith('Delimited') && !isContent)
    return random.pick([...PLAIN, ...NASTY].filter((one) => !/[ |]/.test(one)));
  // Alone, these are refused: they would change the route.
  const texts = [...PLAIN, ...NASTY];
  return random.pick(place === 'path' && !isContent ? texts.filter((one) => one !== '..') : texts);
}

function declare({ place, name, style, explode, shape, isContent }: WireParameter): object {
  const schema = schemaOf(shape);
  const described = { name, in: place, required: true, description: `${place} ${name}` };
  return isContent
    ? { ...described, content: { 'application/json': { schema } } }
    : { ...described, style, explode, schema };
}

function schemaOf(shape: Shape): object {
  switch (shape) {
    case 'number':
      return { type: 'integer' };
    case 'flag':
      return { type: 'boolean' };
    case 'list':
      return { type: 'array', items: { type: 'string' } };
    case 'object':
      return { type: 'object', additionalProperties: { type: 'string' } };
    default:
      return { type: 'string' };
  }
}

function generateBody(random: Random): { wire: WireBody; content: object } {
  const form = random.pick(['json', 'json-nested', 'form', 'multipart', 'text', 'bytes'] as const);
  const text = (): string => random.pick([...PLAIN, ...NASTY]);
  const bytes = Buffer.from(Array.from({ length: random.integer(50) }, () => random.integer(256)));
  const fields = {
    id: { type: 'string', description: 'field id' },
    'a b': { type: 'string', description: 'field a b' },
  };
  const object = { type: 'object', properties: fields, required: ['id'] };
  const value = { id: text(), 'a b': text() };
  switch (form) {
    case 'json':
      return { wire: { form, value }, content: { 'text/plain': {}, 'application/json': { schema: object } } };
    case 'json-nested':
      return {
        wire: { form, value: [value] },
        content: { 'application/merge-patch+json': { schema: { type: 'array', items: object } } },
      };
    case 'form':
      return { wire: { form, value }, content: { 'application/x-www-form-urlencoded': { schema: object } } };
    case 'multipart': {
      const file = { data: bytes.toString('base64'), filename: 'a"b.png', contentType: 'image/png' };
      const properties = { ...fields, file: { type: 'string', format: 'binary', description: 'field file' } };
      return {
        wire: { form, value: { ...value, file } },
        content: { 'multipart/form-data': { schema: { ...object, properties } } },
      };
    }
    case 'text':
      return { wire: { form, value: text() }, content: { 'text/csv': { schema: { type: 'string' } } } };
    case 'bytes':
      return {
        wire: { form, value: bytes.toString('base64') },
        content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
      };
  }
}

function shuffled<T>(random: Random, list: readonly T[]): readonly T[] {
  return [...list]
    .map((item) => [random.next(), item] as const)
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);
}
