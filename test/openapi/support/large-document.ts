/**
 * A document as large as those of large companies: `operations` operations, and a web of `components` schemas that refer to each other.
 * Every tenth operation has a small reply of its own.
 */
export function largeDocument({ operations, components }: { operations: number; components: number }): {
  readonly paths: Record<string, object>;
  readonly [key: string]: unknown;
} {
  const ref = (at: number): object => ({ $ref: `#/components/schemas/Thing${at % components}` });
  const schemas = Object.fromEntries(
    Array.from({ length: components }, (_, at) => [
      `Thing${at}`,
      {
        type: 'object',
        description: `The thing number ${at}, which has an owner, parts and a history.`,
        required: ['id', 'object', 'created'],
        properties: {
          id: { type: 'string', maxLength: 5000, description: 'The id of the thing, which is unique.' },
          object: { type: 'string', enum: [`thing${at}`], description: 'The kind of the thing.' },
          created: { type: 'integer', description: 'The time of its creation, in seconds since 1970.' },
          status: { type: 'string', enum: ['active', 'pending', 'closed'], nullable: true },
          owner: { anyOf: [{ type: 'string', maxLength: 5000 }, ref(at * 7 + 1)] },
          parts: { type: 'array', items: ref(at * 3 + 2) },
          history: { type: 'object', additionalProperties: ref(at * 5 + 3) },
          metadata: { type: 'object', additionalProperties: { type: 'string', maxLength: 500 } },
        },
      },
    ]),
  );
  const small = { type: 'object', required: ['deleted'], properties: { deleted: { type: 'boolean' } } };
  const paths = Object.fromEntries(
    Array.from({ length: operations }, (_, at) => [
      `/v1/things${at}`,
      {
        post: {
          operationId: `PostThings${at}`,
          description: 'Changes a thing.',
          responses: {
            200: {
              description: 'It is changed.',
              content: { 'application/json': { schema: at % 10 === 0 ? small : ref(at) } },
            },
          },
        },
      },
    ]),
  );
  return { openapi: '3.0.3', info: { title: 'Large', version: '1' }, paths, components: { schemas } };
}
