import { describe, expect, it } from 'vitest';
import { ListedIndex } from '../../../../src/protocol/model/search/listed-index.js';

const listed = (name: string, description = ''): object => ({ name, description, inputSchema: {} });

async function found(
  index: ListedIndex,
  list: readonly unknown[],
  query: string,
): Promise<readonly string[]> {
  const { index: words, subset } = await index.of(list);
  return words.search(query, subset, 10).map(({ tool }) => tool.name);
}

describe('the index of listed tools', () => {
  it('leaves out what is not a tool, and repeated tools', async () => {
    const deep = { name: 'deep', inputSchema: { properties: 5, items: [], anyOf: 'x', $defs: null } };
    const odd = { name: 'odd', description: 7, title: {}, inputSchema: 'none', _meta: [] };
    const list = [
      null,
      5,
      'x',
      [],
      {},
      { name: 7 },
      deep,
      odd,
      listed('play', 'Plays music'),
      listed('play', 'Plays music'),
    ];
    const index = new ListedIndex();
    expect(await found(index, list, 'music')).toEqual(['play']);
    expect((await index.of(list)).tools).toHaveLength(3);
  });

  it('answers callers that see different tools at the same time, each from its own', async () => {
    const index = new ListedIndex();
    const lists = Array.from({ length: 30 }, (_, at) =>
      Array.from({ length: 20 }, (_unused, number) => listed(`tool_${at}_${number}`, `Paints fence ${at}`)),
    );
    const answers = await Promise.all(lists.map((list) => found(index, list, 'paint fence')));
    answers.forEach((names, at) => {
      expect(names).toHaveLength(10);
      expect(names.every((name) => name.startsWith(`tool_${at}_`))).toBe(true);
    });
  });

  it('gives the same array and the same tools while a list does not change', async () => {
    const index = new ListedIndex();
    const first = await index.of([listed('a'), listed('b')]);
    const second = await index.of([listed('a'), listed('b')]);
    expect(second.tools).toBe(first.tools);
    const third = await index.of([listed('a'), listed('c')]);
    expect(third.tools[0]).toBe(first.tools[0]);
    expect(third.tools).not.toBe(first.tools);
  });

  it('forgets the tools of a server that changes them all the time', async () => {
    const index = new ListedIndex();
    const indexes = new Set<object>();
    for (let round = 0; round < 40; round++) {
      const list = Array.from({ length: 100 }, (_, at) => listed(`tool_${at}`, `Round ${round}`));
      const { index: words } = await index.of(list);
      indexes.add(words);
      expect(await found(index, list, 'tool_7')).toContain('tool_7');
    }
    // 100 tools each time: a new index after at most 1,200 of them.
    expect(indexes.size).toBeGreaterThan(2);
  });
});
