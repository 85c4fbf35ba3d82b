import type { CompiledSchema } from './check/compiled-schema.js';
import type { Issue } from './check/issue.js';
import type { Explanation } from './explain/explain.js';

/** Explains a failed validation, as `explain` does. Most servers start without the code for it: it is loaded with the first failure. */
export async function explainLater(
  issues: readonly Issue[],
  compiled: CompiledSchema,
  value: unknown,
): Promise<string> {
  return (await explanationLater(issues, compiled, value)).text;
}

/** Explains a failed validation, and names the field that the explanation begins with. */
export async function explanationLater(
  issues: readonly Issue[],
  compiled: CompiledSchema,
  value: unknown,
): Promise<Explanation> {
  const { explanationOf } = await import('./explain/explain.js');
  return explanationOf(issues, compiled, value);
}
