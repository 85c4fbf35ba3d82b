// The parts that all fields of a form share.

import { type Context, createContext, type VNode } from 'preact';
import type { JsonObject } from '../../src/jsonrpc/message.js';
import type { Shape } from '../../src/schema/read/shape.js';

export interface FormShared {
  /** The document that references point into. */
  readonly root: JsonObject;
  readonly errors: ReadonlyMap<string, string>;
  readonly idPrefix: string;
  /** More about single fields, by JSON pointer. */
  readonly notes?: ReadonlyMap<string, VNode> | undefined;
}

export const FormContext: Context<FormShared> = createContext<FormShared>({
  root: {},
  errors: new Map(),
  idPrefix: '',
});

/** The properties of each control of a field. */
export interface ControlProps {
  readonly shape: Shape;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly path: string;
  readonly depth: number;
  readonly id: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly describedBy: string | undefined;
  readonly isInvalid: boolean;
}

/** The id of the control at a path. */
export function idOf(prefix: string, path: string): string {
  return `${prefix}${path || '/'}`;
}
