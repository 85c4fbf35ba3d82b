import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { JsonObject } from '../../../src/jsonrpc/message.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { bestBranch } from '../check.js';
import { type ControlProps, FormContext } from '../form-context.js';
import { initialValue } from '../initial-value.js';
import { isObject, propertiesOf, shapeOf, typesOf } from '../shape.js';
import { Field } from './field.js';
import { ObjectFields } from './object-field.js';

const OPEN = 5;

/** One of several schemas: a choice, and then the fields of that choice. */
export function UnionField({ shape, value, onChange, path, depth, id, name }: ControlProps): VNode {
  const { root } = useContext(FormContext);
  const picked = useSignal<number | undefined>(undefined);
  const { branches } = shape;
  const at = picked.value ?? bestBranch(shape, value, root) ?? 0;
  const key = discriminatorOf(branches, shape.schema);
  const labels = branches.map((branch, index) => branchLabel(branch, key, index));
  const choose = (index: number) => {
    picked.value = index;
    onChange(movedTo(branches[index] ?? {}, value, root));
  };
  const branch = branches[at] ?? {};
  const inner = shapeOf(branch, root);
  const isMany = branches.length > OPEN;
  return (
    <div class="form-union">
      {isMany ? (
        <select
          id={id}
          class="field"
          aria-label={`Kind of ${name}`}
          value={String(at)}
          onChange={(event) => choose(Number(event.currentTarget.value))}
        >
          {labels.map((label, index) => (
            <option key={label} value={String(index)}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <div class="form-segments">
          {labels.map((label, index) => (
            <label key={label} class="form-segment">
              <input
                type="radio"
                name={`${id}-kind`}
                id={index === 0 ? id : undefined}
                checked={index === at}
                onChange={() => choose(index)}
              />
              {label}
            </label>
          ))}
        </div>
      )}
      {inner.kind === 'object' ? (
        <div class="form-nested" key={at}>
          <ObjectFields
            shape={inner}
            value={value}
            onChange={onChange}
            path={path}
            depth={depth + 1}
            hidden={key}
          />
        </div>
      ) : (
        <Field
          key={at}
          schema={branch}
          name=""
          value={value}
          onChange={onChange}
          path={path}
          depth={depth + 1}
          isRequired={true}
        />
      )}
    </div>
  );
}

/** The property that has another constant in each branch. */
function discriminatorOf(branches: readonly JsonObject[], schema: JsonObject): string | undefined {
  const named = isObject(schema['discriminator']) ? schema['discriminator']['propertyName'] : undefined;
  const candidates =
    typeof named === 'string' ? [named] : propertiesOf(branches[0] ?? {}).map(([name]) => name);
  return candidates.find((name) => branches.every((branch) => constantOf(branch, name) !== undefined));
}

function constantOf(branch: JsonObject, name: string): unknown {
  const properties = branch['properties'];
  if (!isObject(properties) || !Object.hasOwn(properties, name)) return undefined;
  const property = properties[name];
  if (!isObject(property)) return undefined;
  const values = property['enum'];
  return property['const'] ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined);
}

function branchLabel(branch: JsonObject, key: string | undefined, index: number): string {
  if (key !== undefined) return cleanLine(String(constantOf(branch, key)), 40);
  const title = branch['title'];
  const names = propertiesOf(branch).map(([name]) => name);
  const types = typesOf(branch).join(' or ');
  return cleanLine(
    typeof title === 'string'
      ? title
      : names.length > 0
        ? names.slice(0, 3).join(', ')
        : types || `choice ${index + 1}`,
    40,
  );
}

/** The beginning of another branch, with what both have in common. */
function movedTo(branch: JsonObject, value: unknown, root: JsonObject): unknown {
  const begun = initialValue(branch, root);
  if (!isObject(begun) || !isObject(value)) return begun;
  const names = new Set(propertiesOf(branch).map(([name]) => name));
  const kept = Object.entries(value).filter(
    ([name]) => names.has(name) && constantOf(branch, name) === undefined,
  );
  return { ...begun, ...Object.fromEntries(kept) };
}
