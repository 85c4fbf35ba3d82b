import { isObject } from '../../jsonrpc/message.js';
import type { JsonSchema } from '../../schema/document/plain-json.js';
import type { Json } from '../document/references.js';

/**
 * The branches of a schema with a discriminator; undefined for other schemas. A value may fit several branches, since the property
 * that tells them apart is often only a string. So they become `anyOf`, and those that the mapping names get its values.
 */
export function branchesOf(
  { oneOf, anyOf, discriminator }: Json,
  convert: (raw: unknown) => JsonSchema | boolean,
): readonly (JsonSchema | boolean)[] | undefined {
  const branches = oneOf ?? anyOf;
  if (!isObject(discriminator) || !Array.isArray(branches) || branches.length === 0) return undefined;
  if (oneOf !== undefined && anyOf !== undefined) return undefined;
  const { propertyName, mapping } = discriminator;
  const valuesOf = (ref: unknown): readonly string[] =>
    isObject(mapping) && typeof ref === 'string'
      ? Object.keys(mapping).filter(
          (value) => mapping[value] === ref || `#/components/schemas/${mapping[value]}` === ref,
        )
      : [];
  return branches.map((branch) => {
    const schema = convert(branch);
    const values = isObject(branch) ? valuesOf(branch['$ref']) : [];
    if (typeof propertyName !== 'string' || values.length === 0 || !isObject(schema)) return schema;
    return {
      ...schema,
      properties: Object.fromEntries([[propertyName, { enum: values }]]),
      required: [propertyName],
    };
  });
}
