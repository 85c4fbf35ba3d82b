import { type Schema as InterpretedSchema, validate as interpret } from '@cfworker/json-schema';
import type { SchemaDocument } from '../document/nodes.js';

/**
 * The seam to the JSON Schema validator: an interpreter, so it also runs where code generation is forbidden.
 * It is given our own nodes and our own table of references, and so never resolves or fetches anything itself.
 */
export function accepts(document: SchemaDocument, value: unknown): boolean {
  return run(document, value, true)?.valid ?? false;
}

/** A keyword that a value did not satisfy: where in the value, and by which way through the schema. */
export interface Finding {
  readonly keyword: string;
  readonly path: readonly string[];
  readonly schemaPath: readonly string[];
}

// A peer may be wrong a million times; nobody reads that far.
const MAX_FINDINGS = 50_000;

/** Whether a value fits, and what is wrong with it, in one pass. What cannot be checked at all does not fit. */
export function judge(
  document: SchemaDocument,
  value: unknown,
): { readonly valid: boolean; readonly findings: readonly Finding[] } {
  const result = run(document, value, false) ?? run(document, value, true);
  return { valid: result?.valid ?? false, findings: findingsOf(result) };
}

/** What is wrong with a value, applicators before what is inside them. Empty when it could not be checked at all. */
export function findings(document: SchemaDocument, value: unknown): readonly Finding[] {
  return judge(document, value).findings;
}

function findingsOf(result: Outcome | undefined): readonly Finding[] {
  return (result?.errors ?? []).slice(0, MAX_FINDINGS).map((error) => ({
    keyword: error.keyword,
    path: tokens(error.instanceLocation),
    schemaPath: tokens(error.keywordLocation),
  }));
}

type Outcome = ReturnType<typeof interpret>;

/**
 * The interpreter throws on what is not JSON (a handler's `{ note: undefined }`), on field names that are not
 * well-formed Unicode and on nesting beyond the stack. The first becomes what would go over the wire; the others fail.
 */
function run(document: SchemaDocument, value: unknown, stopEarly: boolean): Outcome | undefined {
  try {
    return runOnce(document, value, stopEarly);
  } catch (error) {
    if (error instanceof RangeError || error instanceof URIError) return undefined;
    try {
      return runOnce(document, JSON.parse(JSON.stringify(value)), stopEarly);
    } catch {
      return undefined;
    }
  }
}

function runOnce(document: SchemaDocument, value: unknown, stopEarly: boolean): Outcome {
  const targets = document.targets as Record<string, InterpretedSchema | boolean>;
  return interpret(value, document.root as InterpretedSchema, '2020-12', targets, stopEarly);
}

function tokens(location: string): readonly string[] {
  return location.split('/').slice(1).map(decodeToken);
}

function decodeToken(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}
