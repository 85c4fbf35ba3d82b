// Whether a schema is too large for a form.

const MAX_NODES = 1500;
const MAX_DEPTH = 40;

export function isTooLarge(schema: unknown): boolean {
  const budget = { left: MAX_NODES };
  return exceeds(schema, 0, budget);
}

function exceeds(value: unknown, depth: number, budget: { left: number }): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_DEPTH || budget.left-- < 0) return true;
  // Choices are many values, but one field.
  for (const key of Object.keys(value))
    if (key !== 'enum' && exceeds((value as Record<string, unknown>)[key], depth + 1, budget)) return true;
  return false;
}
