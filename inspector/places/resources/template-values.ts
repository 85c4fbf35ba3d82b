// A URI template as fields, and the URI that their values make.

import { expandParts } from '../../../src/protocol/uri-template/expand.js';
import { type Part, readParts } from '../../../src/protocol/uri-template/grammar.js';

interface TemplateField {
  readonly name: string;
  /** Whether it takes several values, separated by commas. */
  readonly isList: boolean;
  /** Whether the URI makes no sense without it. */
  readonly isRequired: boolean;
}

export interface TemplateShape {
  readonly fields: readonly TemplateField[];
  /** Why the template cannot be filled in. */
  readonly fault?: string;
  readonly fill: (values: Readonly<Record<string, string>>) => string;
}

export function readTemplate(text: string): TemplateShape {
  let parts: readonly Part[];
  try {
    parts = readParts(text);
  } catch (error) {
    return {
      fields: [],
      fault: error instanceof Error ? error.message : 'The template cannot be read.',
      fill: () => text,
    };
  }
  const fields = new Map<string, TemplateField>();
  for (const part of parts) {
    if (part.kind === 'literal') continue;
    // `{a}` and `{+a}` have nothing around them that may be missing; `{?a}`, `{/a}` and `{#a}` do.
    const isRequired = part.operator.first === '';
    for (const { name, explode } of part.variables) {
      const earlier = fields.get(name);
      fields.set(name, {
        name,
        isList: explode || earlier?.isList === true,
        isRequired: isRequired || earlier?.isRequired === true,
      });
    }
  }
  return {
    fields: [...fields.values()],
    fill: (values) => expandParts(parts, expansionOf(fields, values)),
  };
}

function expansionOf(
  fields: ReadonlyMap<string, TemplateField>,
  values: Readonly<Record<string, string>>,
): Record<string, string | readonly string[]> {
  // A server may call its variable `__proto__`.
  const filled: Record<string, string | readonly string[]> = Object.create(null) as Record<string, string>;
  for (const { name, isList } of fields.values()) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === '') continue;
    filled[name] = isList ? value.split(',').map((item) => item.trim()) : value;
  }
  return filled;
}
