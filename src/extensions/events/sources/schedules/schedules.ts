// The schedules of types of events: one process at a time tells their moments, each under an id that follows from its time.

import { unlessAborted } from '../../../../async/abort.js';
import { withDeadline } from '../../../../async/deadline.js';
import type { CompiledEvent } from '../../../../server/catalog/events.js';
import type { EventSchedule, ScheduleTick } from '../../../../server/define/schedule-options.js';
import type { EventPluginParts } from '../../../../server/handle/event-host.js';
import type { Lease, StoreChange, Written } from '../../../../state/store.js';
import type { Histories } from '../../histories.js';
import type { EventHistory } from '../../log/event-history.js';
import { itemOf, type NewEvent, SEGMENT_UNITS } from '../../log/stored-event.js';
import type { ReadEvent } from '../../source-host.js';
import { newEventChanges, webhookQueues } from '../../webhooks/stored/places.js';
import type { Ticks } from './cron.js';
import { ticksOf } from './ticks.js';

/** The parts of a `Schedules`. */
export interface SchedulesParts
  extends Pick<EventPluginParts, 'server' | 'store' | 'events' | 'news' | 'relay' | 'log'> {
  readonly histories: Histories;
  /** Checks the data of an event. */
  readonly read: ReadEvent;
}

/** How far a schedule is. */
interface Progress {
  /** Everything up to this moment is told, or left out. */
  readonly until: number;
  /** The moment that was told last. */
  readonly told?: number;
}

/** A schedule with everything that telling it needs. */
interface Scheduled {
  readonly type: CompiledEvent;
  readonly schedule: EventSchedule;
  readonly ticks: Ticks;
  readonly history: EventHistory;
}

/** The moments that are to be told next, and how many before it are left out. */
interface Due {
  readonly tick: number | undefined;
  readonly missed: boolean;
}

/** The clock may be set, so the schedule is looked at this often. */
const LOOK_MS = 60_000;
/** A moment that is longer ago is late. */
const LATE_MS = 60_000;
/** The difference between the clocks of processes that is tolerated. */
const AHEAD_MS = 300_000;
const MAX_MISSED = 100;
const MAX_EVENTS = 100;
const RUN_MS = 300_000;

/** The schedules of a server. */
export class Schedules {
  readonly #parts: SchedulesParts;
  readonly #ticks = new WeakMap<CompiledEvent, Ticks>();

  constructor(parts: SchedulesParts) {
    this.#parts = parts;
  }

  /** The keys of all schedules, which are the groups of their types. Throws a TypeError if one of them is wrong. */
  async keys(): Promise<readonly string[]> {
    const types = [...this.#parts.events.values()].filter(({ schedule }) => schedule !== undefined);
    for (const type of types) this.#ticksOf(type);
    return Promise.all(types.map(async ({ name }) => (await this.#parts.histories.of(name)).group));
  }

  /** Finds a schedule by its key. Returns the function that tells its moments; undefined if this process does not have it. */
  async find(key: string): Promise<((lease: Lease, signal: AbortSignal) => Promise<number>) | undefined> {
    for (const type of this.#parts.events.values()) {
      const { name, schedule } = type;
      if (schedule === undefined) continue;
      const history = await this.#parts.histories.of(name);
      if (history.group !== key) continue;
      const scheduled = { type, schedule, ticks: this.#ticksOf(type), history };
      return (lease, signal) => this.tell(scheduled, lease, signal);
    }
    return undefined;
  }

  /** Tells the moments of a schedule that are due. Resolves with the time until it has to be looked at again. */
  async tell(scheduled: Scheduled, lease: Lease, signal: AbortSignal): Promise<number> {
    const { store, log } = this.#parts;
    const { type, ticks, history } = scheduled;
    const key = `event-schedule:${history.group}`;
    while (!signal.aborted) {
      const entry = await store.get(key);
      const now = Date.now();
      const progress = entry?.value as unknown as Progress | undefined;
      if (entry === undefined || progress === undefined) {
        // A schedule that is new begins with its next moment.
        const put: StoreChange = { do: 'put', key, value: { until: now }, if: 'absent' };
        if (isLost(await store.write([put], { guard: lease }))) break;
        continue;
      }
      const put = (value: Progress): StoreChange => ({
        ...{ do: 'put', key, value: { ...value } },
        if: { version: entry.version },
      });
      if (progress.until > now + AHEAD_MS) {
        log(
          'warning',
          `The schedule of the events "${type.name}" was told up to ${new Date(progress.until).toISOString()}, which is not yet: a clock was set back. It continues from now.`,
        );
        if (isLost(await store.write([put({ ...progress, until: now })], { guard: lease }))) break;
        continue;
      }
      const { tick, missed } = dueOf(scheduled, progress.until, now);
      if (missed)
        log('warning', `Moments of the schedule of the events "${type.name}" were missed, and are left out.`);
      if (tick === undefined) {
        if (missed && isLost(await store.write([put({ ...progress, until: now })], { guard: lease }))) break;
        const next = ticks.after(Math.max(now, progress.until));
        return Math.min(LOOK_MS, next === undefined ? LOOK_MS : next - now);
      }
      const isOurs = await this.#tellOne(scheduled, { tick, previous: progress.told, lease, signal, put });
      if (!isOurs) break;
    }
    return 0;
  }

  /** Tells a moment: its events and the progress are one write. Returns false if another process has the schedule by now. */
  async #tellOne(
    { type, schedule, history }: Scheduled,
    {
      tick,
      previous,
      lease,
      signal,
      put,
    }: {
      readonly tick: number;
      readonly previous: number | undefined;
      readonly lease: Lease;
      readonly signal: AbortSignal;
      readonly put: (progress: Progress) => StoreChange;
    },
  ): Promise<boolean> {
    const { store, server, news } = this.#parts;
    const times = { at: new Date(tick), previous: previous === undefined ? undefined : new Date(previous) };
    const data = await run(type.name, schedule, times, signal);
    const events = await this.#eventsOf(type, history, data, tick);
    const told = put({ until: tick, told: tick });
    const webhooks = type.listed.delivery.includes('webhook')
      ? newEventChanges(await webhookQueues(server), history.group)
      : [];
    // A server that this one is mounted in knows the ids, too.
    await Promise.all(events.flatMap((event) => this.#parts.relay(type.name, event, undefined)));
    // Both have what the other needs: a process that has lost the schedule in the meantime appends nothing.
    const appended = events.length === 0 ? [] : await history.append(events, [told, ...webhooks]);
    // The moment has no events, or all of them were told before the clock was set back.
    if (!appended.some(({ isNew }) => isNew)) return !isLost(await store.write([told], { guard: lease }));
    void news.publish({ name: type.name });
    return true;
  }

  async #eventsOf(
    type: CompiledEvent,
    { group }: EventHistory,
    data: readonly object[],
    tick: number,
  ): Promise<readonly NewEvent[]> {
    const timestamp = new Date(tick);
    const events = await Promise.all(
      data.map((one, at) => {
        const eventId = `tick_${group.slice(0, 10)}_${tick}${at === 0 ? '' : `_${at}`}`;
        return this.#parts.read(type, one, { eventId, timestamp });
      }),
    );
    const units = events.reduce((sum, event) => sum + itemOf(event).units, 0);
    if (events.length > MAX_EVENTS || units > SEGMENT_UNITS)
      throw new RangeError(
        `The schedule of the events "${type.name}" returned ${events.length} events for one moment. At most ${MAX_EVENTS} with 1 MB together are possible: emit the events in "run", and return undefined.`,
      );
    return events;
  }

  #ticksOf(type: CompiledEvent): Ticks {
    const known = this.#ticks.get(type);
    if (known !== undefined) return known;
    try {
      const ticks = ticksOf(type.schedule as EventSchedule);
      this.#ticks.set(type, ticks);
      return ticks;
    } catch (error) {
      throw new TypeError(`event "${type.name}": ${(error as Error).message}.`);
    }
  }
}

function isLost(written: Written): boolean {
  return !written.ok && written.refusedBy === 'guard';
}

/** The next moment to tell, by the rule for those that were missed. */
function dueOf({ ticks, schedule: { catchUp = 'last' } }: Scheduled, until: number, now: number): Due {
  const newest = ticks.until(now);
  if (newest === undefined || newest <= until) return { tick: undefined, missed: false };
  if (catchUp === 'none' && now - newest > LATE_MS) return { tick: undefined, missed: true };
  if (catchUp !== 'all') return { tick: newest, missed: false };
  let tick = newest;
  for (let n = 1; n < MAX_MISSED; n++) {
    const before = ticks.until(tick - 1);
    if (before === undefined || before <= until) return { tick, missed: false };
    tick = before;
  }
  const before = ticks.until(tick - 1);
  return { tick, missed: before !== undefined && before > until };
}

/** Calls the function of a schedule. One that ignores its signal is not waited for. */
async function run(
  name: string,
  schedule: EventSchedule,
  times: Pick<ScheduleTick, 'at' | 'previous'>,
  signal: AbortSignal,
): Promise<readonly object[]> {
  const late = () => new Error(`"run" took longer than ${RUN_MS / 60_000} minutes`);
  try {
    const returned: unknown = await withDeadline({ ms: RUN_MS, signal, reason: late }, (own) =>
      unlessAborted(Promise.resolve(schedule.run({ ...times, signal: own })), own),
    );
    signal.throwIfAborted();
    if (returned === undefined) return [];
    return (Array.isArray(returned) ? returned : [returned]) as readonly object[];
  } catch (error) {
    throw new Error(`The schedule of the events "${name}" failed for ${times.at.toISOString()}`, {
      cause: error,
    });
  }
}
