import { expect, test } from 'vitest';
import { describeInChromium } from './chromium.js';
import { useWorld } from './world.js';

// The parts of the bundle that a page loads, and when it loads them.

const BYTES = 27_000;

describeInChromium('of the client', () => {
  const world = useWorld();

  /** The files that a page fetches, with their sizes when gzipped. */
  async function loadedBy(asked: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, number>> {
    world.site.loaded();
    await (await world.open({ url: world.url(), ...asked })).result();
    return world.site.loaded();
  }

  test('a page that calls a tool loads at most 27 kB', async () => {
    const loaded = await loadedBy({ do: 'call' });
    const bytes = [...loaded.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(BYTES / 5);
    expect(bytes, JSON.stringify(Object.fromEntries(loaded))).toBeLessThanOrEqual(BYTES);
  });

  test('parts that only some pages need are loaded on demand', async () => {
    const always = await loadedBy({ do: 'call' });
    const more = async (asked: Readonly<Record<string, string>>): Promise<string> =>
      [...(await loadedBy(asked)).keys()].filter((name) => !always.has(name)).join(' ');
    expect(await more({ do: 'header', listed: 'yes' })).toContain('param-headers');
    expect(await more({ do: 'output' })).toContain('output-check');
    expect(await more({ do: 'call', revision: '2025-11-25' })).toContain('session-era');
    expect(await more({ do: 'call', url: world.url('ws') })).toContain('web-socket');
  });

  test('nothing compiles code from strings, which the page forbids', async () => {
    const page = await world.open({ do: 'eval' });
    expect(await page.result()).toBe('EvalError');
  });
});
