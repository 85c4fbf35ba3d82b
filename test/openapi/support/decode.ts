import type { IncomingMessage } from 'node:http';
import type { Expectation, WireParameter } from './generate.js';

// Reads a request back by the styles that the document declares. Written from the specification, without the code under test.

/** The differences between a request and the one that was expected. */
export async function differences(
  { path, parameters, body, credential }: Expectation,
  request: IncomingMessage,
  bytes: Buffer,
): Promise<readonly string[]> {
  const found: string[] = [];
  const compare = (what: string, actual: unknown, expected: unknown): void => {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      found.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  };
  const [route = '', search = ''] = (request.url ?? '').split('?');
  const segments = route.split('/');
  const template = path.split('/');
  compare('the number of segments', segments.length, template.length);
  const pairs = search === '' ? [] : search.split('&').map((pair) => splitPair(pair));
  const cookies = (request.headers.cookie ?? '')
    .split('; ')
    .filter(Boolean)
    .map((pair) => splitPair(pair));
  let expectedPairs = 0;
  for (const [at, segment] of template.entries())
    if (!segment.startsWith('{')) compare('a segment', segments[at], segment);
  for (const parameter of parameters) {
    const { place, name } = parameter;
    const what = `${place} ${name} (${parameter.style}${parameter.explode ? '*' : ''}, ${parameter.shape})`;
    const list = place === 'cookie' ? cookies : pairs;
    if (place === 'path')
      compare(
        what,
        fromPath(parameter, segments[template.indexOf(`{${name}}`)] ?? ''),
        asText(parameter.value),
      );
    else if (place === 'header')
      compare(
        what,
        fromHeader(parameter, String(request.headers[name.toLowerCase()])),
        asText(parameter.value),
      );
    else compare(what, fromPairs(parameter, list), asText(parameter.value));
    if (place === 'query') expectedPairs += countPairs(parameter);
  }
  if (credential?.place === 'header')
    compare('the credential', request.headers[credential.name], credential.value);
  if (credential?.place === 'cookie')
    compare('the credential', textAt(cookies, credential.name), credential.value);
  if (credential?.place === 'query') {
    compare('the credential', textAt(pairs, credential.name), credential.value);
    expectedPairs += 1;
  }
  compare('the number of pairs in the query', pairs.length, expectedPairs);
  await compareBody(body, { request, bytes, compare });
  return found;
}

type Pair = readonly [key: string, rawValue: string];

function splitPair(text: string): Pair {
  const at = text.indexOf('=');
  return [decodeURIComponent(text.slice(0, at)), text.slice(at + 1)];
}

function textAt(pairs: readonly Pair[], name: string): string {
  return decodeURIComponent(pairs.find(([key]) => key === name)?.[1] ?? 'missing');
}

/** Numbers and flags are text on the wire. */
function asText(value: unknown): unknown {
  return typeof value === 'object' ? value : String(value);
}

const decodeAll = (parts: readonly string[]): string[] => parts.map((part) => decodeURIComponent(part));

function objectOf(parts: readonly string[]): object {
  const entries: [string, string][] = [];
  for (let at = 0; at + 1 < parts.length; at += 2)
    entries.push([parts[at] as string, parts[at + 1] as string]);
  return Object.fromEntries(entries);
}

function readParts(shape: string, parts: readonly string[], explode: boolean): unknown {
  if (shape === 'list') return decodeAll(parts);
  if (shape !== 'object') return decodeURIComponent(parts.join(','));
  return explode
    ? Object.fromEntries(parts.map((part) => decodeAll(part.split('='))))
    : objectOf(decodeAll(parts));
}

function fromPath({ name, style, explode, shape }: WireParameter, segment: string): unknown {
  const isOne = shape !== 'list' && shape !== 'object';
  if (style === 'simple') return readParts(shape, isOne ? [segment] : segment.split(','), explode);
  const sign = style === 'label' ? '.' : ';';
  if (segment[0] !== sign) return `no ${sign}`;
  const rest = segment.slice(1);
  if (style === 'label') return readParts(shape, isOne ? [rest] : rest.split(explode ? '.' : ','), explode);
  // In the matrix style, names are not encoded by the template: the path has the name as the document writes it.
  const strip = (part: string): string =>
    decodeURIComponent(part).startsWith(`${name}=`) ? part.slice(part.indexOf('=') + 1) : 'no name';
  if (shape === 'object' && explode) return readParts('object', rest.split(';'), true);
  if (shape === 'list' && explode) return readParts('list', rest.split(';').map(strip), true);
  const value = strip(rest);
  return readParts(shape, isOne ? [value] : value.split(','), false);
}

function fromHeader({ explode, shape, isContent }: WireParameter, value: string): unknown {
  if (isContent) return JSON.parse(value);
  if (shape === 'list') return value.split(',');
  if (shape !== 'object') return value;
  return explode
    ? Object.fromEntries(value.split(',').map((part) => part.split('=')))
    : objectOf(value.split(','));
}

function fromPairs(
  { name, style, explode, shape, isContent, value }: WireParameter,
  pairs: readonly Pair[],
): unknown {
  if (isContent) return JSON.parse(textAt(pairs, name));
  if (style === 'deepObject')
    return Object.fromEntries(
      Object.keys(value as object).map((key) => [key, textAt(pairs, `${name}[${key}]`)]),
    );
  if (shape === 'list' && explode)
    return pairs.filter(([key]) => key === name).map(([, raw]) => decodeURIComponent(raw));
  if (shape === 'object' && explode)
    return Object.fromEntries(Object.keys(value as object).map((key) => [key, textAt(pairs, key)]));
  const raw = pairs.find(([key]) => key === name)?.[1] ?? 'missing';
  const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
  return readParts(shape, shape === 'list' || shape === 'object' ? raw.split(separator) : [raw], false);
}

function countPairs({ style, explode, shape, isContent, value }: WireParameter): number {
  if (isContent || (!explode && style !== 'deepObject')) return 1;
  return shape === 'list' || shape === 'object' ? Object.keys(value as object).length : 1;
}

async function compareBody(
  body: Expectation['body'],
  {
    request,
    bytes,
    compare,
  }: {
    request: IncomingMessage;
    bytes: Buffer;
    compare: (what: string, actual: unknown, expected: unknown) => void;
  },
): Promise<void> {
  const type = request.headers['content-type'] ?? '';
  if (body === undefined) return compare('the body', [bytes.length, type], [0, '']);
  const { form, value } = body;
  if (form === 'json' || form === 'json-nested') {
    compare('the type', type, form === 'json' ? 'application/json' : 'application/merge-patch+json');
    compare('the body', JSON.parse(bytes.toString()), value);
  } else if (form === 'form') {
    compare('the body', Object.fromEntries(new URLSearchParams(bytes.toString())), value);
  } else if (form === 'multipart') {
    const data = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    const file = data.get('file') as File;
    const received = {
      data: Buffer.from(await file.arrayBuffer()).toString('base64'),
      filename: file.name,
      contentType: file.type,
    };
    const text = (name: string): string => String(data.get(name)).replaceAll('\r\n', '\n');
    compare('the body', { id: text('id'), 'a b': text('a b'), file: received }, value);
  } else if (form === 'text') {
    compare('the body', [type, bytes.toString()], ['text/csv', value]);
  } else compare('the body', [type, bytes.toString('base64')], ['application/pdf', value]);
}
