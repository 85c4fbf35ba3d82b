import type { QuestionView } from '../../../src/inspector/contract/story.js';

/** The name of the field, if the question is nothing but a yes or no: then `y` and `n` choose. */
export function onlyYesOrNo({ kind, schema }: QuestionView): string | undefined {
  if (kind !== 'form') return undefined;
  const properties = schema?.['properties'];
  if (typeof properties !== 'object' || properties === null) return undefined;
  const [only, second] = Object.entries(properties as Record<string, unknown>);
  if (!only || second) return undefined;
  const [name, field] = only;
  const type = typeof field === 'object' && field !== null ? (field as { type?: unknown }).type : undefined;
  return type === 'boolean' ? name : undefined;
}
