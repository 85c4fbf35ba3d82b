// The values that are typed for a schema, and what is wrong with them.

import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isObject, type JsonObject } from '../../../src/jsonrpc/message.js';
import { check } from '../../form/check.js';
import { initialArguments } from '../../form/initial-value.js';

export interface TypedValues {
  readonly value: Signal<unknown>;
  /** The words beside the fields. */
  readonly errors: ReadonlyMap<string, string>;
  /** The values to send; undefined if something is wrong, which is said from then on. */
  readonly take: () => JsonObject | undefined;
}

/** Keeps values for a schema, from those that its form begins with. */
export function useValues(schema: JsonObject): TypedValues {
  const value = useSignal<unknown>(useMemo(() => initialArguments(schema), [schema]));
  const isAttempted = useSignal(false);
  const typed = value.value;
  const problems = useMemo(() => check(schema, typed), [schema, typed]);
  const errors = new Map<string, string>();
  for (const [path, { message, isMissing }] of problems)
    if (!isMissing || isAttempted.value) errors.set(path, message);
  return {
    value,
    errors,
    take() {
      isAttempted.value = true;
      return problems.size === 0 && isObject(typed) ? typed : undefined;
    },
  };
}

/** Puts the cursor into the first field with a mistake. */
export function focusMistake(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
}
