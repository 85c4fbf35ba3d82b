// From JSON, YAML or an object to an OpenAPI document.

import { isObject } from '../../jsonrpc/message.js';
import { quote, shorten } from '../../protocol/encoding/shorten.js';
import { OpenAPIError } from './openapi-error.js';
import type { Json } from './references.js';

// A parser of YAML takes several times as long as one of JSON.
const MAX_YAML_CHARS = 10_000_000;
const MAX_ALIASES = 1000;

/** Reads a document. Throws an `OpenAPIError` that says what is wrong with it. */
export async function readDocument(document: unknown, maxChars: number): Promise<Json> {
  const root = typeof document === 'string' ? await parse(document, maxChars) : document;
  if (!isObject(root))
    throw new OpenAPIError('The document must be an object, or JSON or YAML that has one.');
  const { openapi: version, swagger } = root;
  if (typeof version === 'string' && /^3\.[012](\.|$)/.test(version)) return root;
  // In YAML without quotes, the version is a number.
  if (version === undefined && (swagger === '2.0' || swagger === 2)) {
    const { fromSwagger } = await import('./from-swagger.js');
    return fromSwagger(root);
  }
  const [name, found] =
    version === undefined && swagger !== undefined ? ['swagger', swagger] : ['openapi', version];
  const printed = shorten(JSON.stringify(found) ?? 'missing', 40);
  throw new OpenAPIError(
    `The document's "${name}" is ${printed}; supported are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0.`,
  );
}

async function parse(text: string, maxChars: number): Promise<unknown> {
  if (text.length > maxChars)
    throw new OpenAPIError(
      `The document has ${text.length} characters; at most ${maxChars} are read. Raise "maxDocumentChars" if you trust it.`,
    );
  return /^\s*\{/.test(text) ? parseJson(text) : await parseYaml(text);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OpenAPIError(`The document is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
}

async function parseYaml(text: string): Promise<unknown> {
  if (text.length > MAX_YAML_CHARS)
    throw new OpenAPIError(
      `The document has ${text.length} characters of YAML; at most ${MAX_YAML_CHARS} are read. Convert it to JSON.`,
    );
  const yaml = await import('yaml').catch((error: unknown) => {
    throw new OpenAPIError('Documents in YAML need the package "yaml". Run: npm install yaml', {
      cause: error,
    });
  });
  try {
    return yaml.parse(text, { maxAliasCount: MAX_ALIASES, logLevel: 'error', schema: 'core' });
  } catch (error) {
    throw new OpenAPIError(`The document is not valid YAML: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return quote(error instanceof Error ? error.message : String(error), 300);
}
