import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test } from 'vitest';
import { startNats } from '../support/engines/nats.js';
import { startPostgres } from '../support/engines/postgres.js';
import { startRedis } from '../support/engines/redis.js';
import { type EventChaosPlan, survive } from './events.js';

/** An engine that runs, and how it is killed. */
interface Engine extends Pick<EventChaosPlan, 'address' | 'folder' | 'killEngine'> {
  readonly stop: () => Promise<void>;
}

function temporaryFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'fullmcp-chaos-events-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const engines = {
  async postgres(): Promise<Engine> {
    const { url, kill, start, remove } = await startPostgres();
    return { address: url, stop: remove, killEngine: () => kill().then(start) };
  },
  async redis(): Promise<Engine> {
    const server = await startRedis();
    return {
      address: server.url,
      stop: () => server.stop(),
      killEngine: () => server.kill().then(() => server.start()),
    };
  },
  // NATS carries the news. The events are in a folder that the processes of one machine share.
  async nats(): Promise<Engine> {
    const nats = await startNats();
    const { folder, remove } = temporaryFolder();
    return { address: nats.url, folder, stop: () => nats.stop().then(remove), killEngine: nats.restart };
  },
  async lmdb(): Promise<Engine> {
    const { folder, remove } = temporaryFolder();
    return { address: folder, stop: async () => remove() };
  },
};

const factor = Number(process.env['CHAOS'] ?? '1');
const size = {
  events: Number(process.env['CHAOS_EVENTS'] ?? Math.round(2000 * factor)),
  kills: Math.max(1, Math.round(10 * Math.min(1, factor))),
};

test.each(Object.entries(engines))(
  'no event is lost, told under two ids or out of order on %s when publishers, workers, receivers and the engine are killed',
  { timeout: 3_600_000 },
  async (engine, start) => {
    const { stop, ...parts } = await start();
    try {
      const { figures, ...broken } = await survive({
        ...{ ...parts, ...size },
        engine: engine as EventChaosPlan['engine'],
      });
      report(engine, figures, broken);
      for (const found of Object.values(broken)) expect(found.slice(0, 20)).toEqual([]);
      const killed = Object.keys(figures).filter((name) => name.endsWith('killed'));
      expect(killed).toHaveLength(parts.killEngine === undefined ? 4 : 5);
    } finally {
      await stop();
    }
  },
);

/** Prints a line, and appends it to the file that `npm run chaos` reads. */
function report(
  engine: string,
  figures: Readonly<Record<string, number>>,
  broken: Readonly<Record<string, readonly string[]>>,
): void {
  const counted = Object.entries(figures).map(([name, count]) => `${name} ${count}`);
  const found = Object.entries(broken).map(([name, all]) => `${name} ${all.length}`);
  const line = `events on ${engine}: ${counted.join(', ')}; ${found.join(', ')}`;
  console.log(line);
  const file = process.env['CHAOS_REPORT'];
  if (file !== undefined) appendFileSync(file, `${line}\n`);
}
