// The only file that calls the JSON Schema validator. The validator is an interpreter, so it also runs where code generation
// is forbidden. It gets our own nodes and our own table of references, so it never resolves or fetches anything itself.

import { type Schema as InterpretedSchema, validate as interpret } from '@cfworker/json-schema';
import type { SchemaDocument } from '../document/nodes.js';

/** Whether a value is valid. */
export function accepts(document: SchemaDocument, value: unknown): boolean {
  return run(document, value, true)?.valid ?? false;
}

/** A keyword that a value did not satisfy, with its path in the value and its path through the schema. */
export interface Finding {
  readonly keyword: string;
  readonly path: readonly string[];
  readonly schemaPath: readonly string[];
}

// A peer may send a value with a million errors; nobody reads that many.
const MAX_FINDINGS = 50_000;

/** Whether a value is valid, and the findings, in one pass. A value that cannot be checked at all is not valid. */
export function judge(
  document: SchemaDocument,
  value: unknown,
): { readonly valid: boolean; readonly findings: readonly Finding[] } {
  const result = run(document, value, false) ?? run(document, value, true);
  return { valid: result?.valid ?? false, findings: findingsOf(result) };
}

/** The findings for a value, those of applicators before those inside them. Empty if the value could not be checked at all. */
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
 * Runs the interpreter, which throws for values that are not JSON (a handler's `{ note: undefined }`), for field names that are
 * not well-formed Unicode, and for nesting that exceeds the stack. A value that is not JSON is converted to what would be sent
 * and checked again; for the others the result is undefined.
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
  const targets = countedTargets(document, value) as Record<string, InterpretedSchema | boolean>;
  return interpret(value, document.root as InterpretedSchema, '2020-12', targets, stopEarly);
}

/** References that are followed for a small value. A check that follows more of them takes seconds. */
const MAX_REFERENCES = 100_000;
const REFERENCES_PER_PART = 20;

/**
 * The targets of the references, until too many have been followed: a schema that mentions itself twice in one field doubles the work with
 * each level of a value, and thirty levels would be a billion checks.
 */
function countedTargets({ targets }: SchemaDocument, value: unknown): SchemaDocument['targets'] {
  let left = MAX_REFERENCES;
  let isLarge = false;
  return new Proxy(targets, {
    get(all, pointer) {
      if (left-- === 0) {
        if (isLarge) throw new RangeError();
        isLarge = true;
        left = REFERENCES_PER_PART * partsOf(value);
      }
      return all[pointer as string];
    },
  });
}

/** The number of values inside of a value. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + partsOf(part), 1);
}

function tokens(location: string): readonly string[] {
  return location.split('/').slice(1).map(decodeToken);
}

function decodeToken(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}
