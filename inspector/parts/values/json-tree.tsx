import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { clean, cleanLine } from '../../../src/tooling/clean.js';
import { Icon } from '../icon.js';
import { bytes, counted } from './format.js';
import { type Difference, differenceOf } from './json-difference.js';

const CHILDREN_AT_ONCE = 100;
const STRING_AT_FIRST = 600;
const STRING_AT_MOST = 100_000;

/** A value as a tree that unfolds when it is wanted. With `previous`, what is different is marked. */
export function JsonTree({
  value,
  previous,
  openDepth = 2,
  label = 'Value',
}: {
  readonly value: unknown;
  /** The value of the run before, boxed, since it may be undefined. */
  readonly previous?: { readonly value: unknown; readonly name: string } | undefined;
  /** How many levels are open at first. */
  readonly openDepth?: number;
  readonly label?: string;
}): VNode {
  const count = countOf(value);
  if (count === undefined)
    return (
      <div class="json-tree" role="group" aria-label={label}>
        <Leaf value={value} difference={differenceOf(value, previous)} />
      </div>
    );
  return (
    <div class="json-tree" role="group" aria-label={label}>
      {count === 0 && <span class="muted">{Array.isArray(value) ? '[] empty' : '{} empty'}</span>}
      <Children value={value} previous={previous} depth={openDepth} />
    </div>
  );
}

interface Previous {
  readonly value: unknown;
  readonly name: string;
}

function Children({
  value,
  previous,
  depth,
}: {
  readonly value: unknown;
  readonly previous: Previous | undefined;
  readonly depth: number;
}): VNode {
  const limit = useSignal(CHILDREN_AT_ONCE);
  const count = countOf(value) ?? 0;
  const gone = previous === undefined ? [] : goneKeys(value, previous.value);
  return (
    <ul>
      {firstChildren(value, limit.value).map(([key, child]) => (
        <Row
          key={key}
          name={key}
          value={child}
          previous={previous && { name: previous.name, value: member(previous.value, key) }}
          depth={depth - 1}
        />
      ))}
      {count > limit.value && (
        <li>
          <button
            type="button"
            class="json-more"
            onClick={() => {
              limit.value += CHILDREN_AT_ONCE;
            }}
          >
            {count - limit.value} more
          </button>
        </li>
      )}
      {gone.slice(0, CHILDREN_AT_ONCE).map((key) => (
        <li key={`gone ${key}`} class="json-row json-gone">
          <span class="json-key">{cleanLine(key)}</span>
          <span class="json-mark">gone, was {cleanLine(shortly(member(previous?.value, key)), 80)}</span>
        </li>
      ))}
    </ul>
  );
}

function Row({
  name,
  value,
  previous,
  depth,
}: {
  readonly name: string;
  readonly value: unknown;
  readonly previous: Previous | undefined;
  readonly depth: number;
}): VNode {
  const isOpen = useSignal(depth > 0);
  const count = countOf(value);
  const difference = differenceOf(value, previous);
  if (count === undefined || count === 0)
    return (
      <li class="json-row">
        <span class="json-key">{cleanLine(name)}</span>
        <Leaf value={value} difference={difference} />
      </li>
    );
  return (
    <li>
      <button
        type="button"
        class="json-row json-fold"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <Icon name={isOpen.value ? 'down' : 'right'} size={12} />
        <span class="json-key">{cleanLine(name)}</span>
        <span class="json-count">
          {Array.isArray(value) ? counted(count, 'item') : counted(count, 'field')}
        </span>
        {difference && !isOpen.value && (
          <span class="json-mark">{difference.kind === 'new' ? 'new' : 'different'}</span>
        )}
      </button>
      {isOpen.value && <Children value={value} previous={previous} depth={depth} />}
    </li>
  );
}

function Leaf({
  value,
  difference,
}: {
  readonly value: unknown;
  readonly difference: Difference | undefined;
}): VNode {
  const isWhole = useSignal(false);
  const text = typeof value === 'string' ? value : shortly(value);
  const shown = text.slice(0, isWhole.value ? STRING_AT_MOST : STRING_AT_FIRST);
  const rest = text.length - shown.length;
  return (
    <span class="json-value">
      <span class={`json-${kindOf(value)}`}>{clean(shown) || '""'}</span>
      {rest > 0 && (
        <button
          type="button"
          class="json-more"
          onClick={() => {
            isWhole.value = true;
          }}
        >
          {isWhole.value ? `${bytes(rest)} not shown` : `… ${bytes(rest)} more`}
        </button>
      )}
      {difference && (
        <span class="json-mark">
          {difference.kind === 'new'
            ? `new since ${difference.name}`
            : `was ${cleanLine(shortly(difference.before), 80)} (${difference.name})`}
        </span>
      )}
    </span>
  );
}

/** How many children a value has; undefined if it is none that could have some. */
function countOf(value: unknown): number | undefined {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : undefined;
}

/** The first children, without looking at the others: there may be a million. */
function firstChildren(value: unknown, limit: number): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return value.slice(0, limit).map((child, at) => [String(at), child] as const);
  const names = typeof value === 'object' && value !== null ? Object.keys(value).slice(0, limit) : [];
  return names.map((name) => [name, member(value, name)] as const);
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function goneKeys(value: unknown, before: unknown): readonly string[] {
  if (typeof before !== 'object' || before === null) return [];
  if (Array.isArray(before) !== Array.isArray(value)) return [];
  return Object.keys(before).filter((key) => member(value, key) === undefined);
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}

function shortly(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value) && value.length === 0) return '[]';
  return JSON.stringify(value) ?? 'nothing';
}
