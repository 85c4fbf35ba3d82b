import { expect, test } from 'vitest';

/** The function of scripts/one-home.js that is tried here. */
interface HomeCheck {
  homeFailures(modules: readonly { readonly path: string; readonly text: string }[]): string[];
}

// The scripts are JavaScript without declarations, so their types are stated here.
const script = new URL('../../../scripts/one-home.js', import.meta.url).href;
const { homeFailures }: HomeCheck = await import(script);

function failuresOf(path: string, text: string): string[] {
  return homeFailures([{ path, text }]);
}

test('a function that has its home elsewhere is not declared again', () => {
  const copy = 'export function isObject(value: unknown): boolean { return true; }';
  expect(failuresOf('src/server/other.ts', copy)).toEqual([
    'src/server/other.ts declares isObject, which src/jsonrpc/message.ts has. Import it, or give it another name.',
  ]);
  expect(failuresOf('inspector/form/field.tsx', 'const tryParse = (text: string) => text;')).toHaveLength(1);
});

test('the home of a function may declare it, and others may use it, or have longer names', () => {
  expect(failuresOf('src/jsonrpc/message.ts', 'export function isObject() {}')).toEqual([]);
  expect(failuresOf('src/server/other.ts', "import { isObject } from '../jsonrpc/message.js';")).toEqual([]);
  expect(failuresOf('src/server/other.ts', 'function isObjectSchema() {}')).toEqual([]);
});

test('an interval is set in one place, and in those that say why they need their own', () => {
  const timer = 'const timer = setInterval(look, 100);';
  expect(failuresOf('src/server/other.ts', timer)).toEqual([
    'src/server/other.ts sets an interval. Use every() of src/async/every.ts.',
  ]);
  expect(failuresOf('src/async/every.ts', timer)).toEqual([]);
  expect(failuresOf('src/transports/http/server/in-flight.ts', timer)).toEqual([]);
  expect(failuresOf('src/server/other.ts', 'let timer: ReturnType<typeof setInterval>;')).toEqual([]);
});
