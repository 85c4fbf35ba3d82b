import type { CompiledSchema } from './check/compiled-schema.js';
import type { Issue } from './check/issue.js';

/** Explains a failed validation, as `explain` does. Most servers start without the code for it: it is loaded with the first failure. */
export async function explainLater(
  issues: readonly Issue[],
  compiled: CompiledSchema,
  value: unknown,
): Promise<string> {
  const { explain } = await import('./explain/explain.js');
  return explain(issues, compiled, value);
}
