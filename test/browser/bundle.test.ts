import { expect, test } from 'vitest';
import { describeInChromium } from './chromium.js';
import { useWorld } from './world.js';

// The parts of the bundle that a page loads, and when it loads them.

const BYTES = 31_000;

describeInChromium('the bundle of the client', () => {
  const world = useWorld();

  /** The files that a page fetches, with their sizes when gzipped. */
  async function filesOf(scenario: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, number>> {
    world.site.loaded();
    await (await world.open({ url: world.url(), ...scenario })).result();
    return world.site.loaded();
  }

  test('is at most 31 kB for a page that calls a tool', async () => {
    const loaded = await filesOf({ do: 'call' });
    const bytes = [...loaded.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(BYTES / 5);
    expect(bytes, JSON.stringify(Object.fromEntries(loaded))).toBeLessThanOrEqual(BYTES);
  });

  test('has parts that are loaded only by the pages that need them', async () => {
    const always = await filesOf({ do: 'call' });
    const more = async (scenario: Readonly<Record<string, string>>): Promise<string> =>
      [...(await filesOf(scenario)).keys()].filter((name) => !always.has(name)).join(' ');
    expect(await more({ do: 'header', listed: 'yes' })).toContain('param-headers');
    expect(await more({ do: 'output' })).toContain('output-check');
    expect(await more({ do: 'call', revision: '2025-11-25' })).toContain('session-era');
    expect(await more({ do: 'call', url: world.url('ws') })).toContain('web-socket');
  });

  test('runs in a page whose policy forbids code from strings', async () => {
    const page = await world.open({ do: 'eval' });
    expect(await page.result()).toBe('EvalError');
  });
});
