import { z as z3 } from 'zod3';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { type Infer, withJsonSchema } from '../../src/schema/schema.js';
const zod3 = z3.object({ a: z3.string() });
const p = withJsonSchema(zod3, {});
export type T = Infer<typeof p>;
export const t: T = { a: 'x' };
export const q = zodToJsonSchema(zod3);
