import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Random } from '../simulation/world/random.js';
import { cells, innermost, onlyInOneOrder, type PartName, parts, placesOf } from './pairs.js';
import { randomStack } from './spec.js';

const root = new URL('../../', import.meta.url);
const names = Object.keys(parts) as PartName[];
const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => [one, other] as const));

test('every pair of parts is stacked at random in every order that exists, or a sentence or another test says enough', () => {
  const found = new Set<string>();
  for (let seed = 1; seed <= 6000; seed++) {
    const places = placesOf(randomStack(new Random(seed)));
    for (const [outer, ofOuter] of places)
      for (const [inner, ofInner] of places)
        if (outer !== inner && Math.min(...ofOuter) < Math.max(...ofInner)) found.add(`${outer} > ${inner}`);
  }
  const missing = pairs.flatMap(([one, other]) => {
    const pair = `${one} × ${other}`;
    const orders = [`${one} > ${other}`, `${other} > ${one}`].filter((order) => !found.has(order));
    if (orders.length === 0 || (orders.length === 1 && onlyInOneOrder[pair] !== undefined)) return [];
    const isInner = innermost.has(one) || innermost.has(other);
    if (isInner && orders.length <= (innermost.has(one) && innermost.has(other) ? 2 : 1)) return [];
    return one === 'workers' || other === 'workers' ? (cells[pair] === undefined ? [pair] : []) : orders;
  });
  expect(missing).toEqual([]);
});

test('every cell of the table of pairs is about two parts, and its tests exist', () => {
  const known = new Set(pairs.map(([one, other]) => `${one} × ${other}`));
  for (const pair of [...Object.keys(cells), ...Object.keys(onlyInOneOrder)]) expect(known).toContain(pair);
  const missing = Object.values(cells)
    .filter((cell) => typeof cell !== 'string')
    .flat()
    .filter(({ file, test: name }) => {
      const path = new URL(file, root);
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(name);
    });
  expect(missing).toEqual([]);
});

test('the page about composition has the promises of every part', () => {
  const page = readFileSync(new URL('docs/composition.md', root), 'utf8');
  const rows = Object.entries(parts).map(
    ([name, { who, often, order, much }]) => `| ${name} | ${who} | ${often} | ${order} | ${much} |`,
  );
  const [, table = ''] = page.split('<!-- parts -->\n');
  expect(table.split('\n').slice(2, 2 + rows.length)).toEqual(rows);
});
