import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { typesOf } from '../../../src/schema/read/resolve.js';
import { type Shape, type ShapeField, shapeOf } from '../../../src/schema/read/shape.js';
import { cleanLine } from '../../../src/tooling/clean.js';
import { bestBranch } from '../check.js';
import { type ControlProps, FormContext } from '../form-context.js';
import { initialValue } from '../initial-value.js';
import { Field } from './field.js';
import { ObjectFields } from './object-field.js';

const OPEN = 5;

/** One of several schemas: a choice, and then the fields of that choice. */
export function UnionField({ shape, value, onChange, path, depth, id, name }: ControlProps): VNode {
  const { root } = useContext(FormContext);
  const picked = useSignal<number | undefined>(undefined);
  const branches = shape.kind === 'union' ? shape.branches : [];
  const shapes = branches.map((branch) => shapeOf(branch, root));
  const best = shape.kind === 'union' ? bestBranch(shape, value, root) : undefined;
  const at = picked.value ?? best ?? 0;
  const key = discriminatorOf(shapes, shape.schema, root);
  const labels = shapes.map((branch, index) => branchLabel(branch, constantOf(branch, key, root), index));
  const choose = (index: number) => {
    picked.value = index;
    onChange(movedTo(branches[index], value, root));
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
function discriminatorOf(
  branches: readonly Shape[],
  { discriminator }: Shape['schema'],
  root: JsonObject,
): string | undefined {
  const named = isObject(discriminator) ? discriminator['propertyName'] : undefined;
  const candidates = typeof named === 'string' ? [named] : namesOf(branches[0]);
  return candidates.find((name) => branches.every((branch) => constantOf(branch, name, root) !== undefined));
}

function constantOf(branch: Shape, name: string | undefined, root: JsonObject): unknown {
  const field = fieldsIn(branch).find((one) => one.name === name);
  if (!field) return undefined;
  const shape = shapeOf(field.schema, root);
  if (shape.kind === 'const') return shape.value;
  return shape.kind === 'choice' && shape.options.length === 1 ? shape.options[0]?.value : undefined;
}

function branchLabel(branch: Shape, constant: unknown, index: number): string {
  if (constant !== undefined) return cleanLine(String(constant), 40);
  const { title } = branch.schema;
  const names = namesOf(branch).slice(0, 3).join(', ');
  const types = typesOf(branch.schema).join(' or ');
  return cleanLine(typeof title === 'string' ? title : names || types || `choice ${index + 1}`, 40);
}

/** The beginning of another branch, with what both have in common. */
function movedTo(branch: unknown, value: unknown, root: JsonObject): unknown {
  const begun = initialValue(branch, root);
  if (!isObject(begun) || !isObject(value)) return begun;
  const shape = shapeOf(branch, root);
  const names = new Set(namesOf(shape).filter((name) => constantOf(shape, name, root) === undefined));
  const kept = Object.entries(value).filter(([name]) => names.has(name));
  return { ...begun, ...Object.fromEntries(kept) };
}

function fieldsIn(shape: Shape | undefined): readonly ShapeField[] {
  return shape?.kind === 'object' ? shape.fields : [];
}

function namesOf(shape: Shape | undefined): readonly string[] {
  return fieldsIn(shape).map(({ name }) => name);
}
