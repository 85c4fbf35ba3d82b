// The second phase of a server: the state of this process, and that which the processes of the server share.

import { type Late, late } from '../../async/late.js';
import { SHARING_ADVICE, type SharedState } from '../../state/cluster.js';
import { MiddlewareLifetimes } from '../../state/hosted-middleware.js';
import type { Store } from '../../state/store.js';
import { Topic } from '../../state/topic.js';
import { Gate } from '../access/gate.js';
import { createSeal, type Seal, type SealOptions } from '../asking/sealed-state.js';
import { Registry } from '../catalog/registry.js';
import { type ReleaseAnnouncement, Releases } from '../catalog/releases.js';
import type { ServerSettings } from '../define/definition-tables.js';
import type { EmittedNews } from '../handle/event-host.js';
import type { Mounts } from '../mount/mounts.js';
import { type SearchFront, searchFront } from '../search/search-front.js';
import type { FinderParts } from '../search/tool-finder.js';
import type { ChangeMessage, TaskAnnouncement } from '../state/changes.js';
import { ChosenState } from '../state/chosen-state.js';
import type { OutcomeAnnouncement } from '../state/end-watch.js';
import { type RunOnce, runOnce } from '../state/idempotency.js';
import { LifespanRun } from '../state/lifespan.js';
import type { Logger } from '../state/log.js';
import type { CompiledOptions } from './compile-options.js';

/** The state of a server. */
export interface OpenState extends ServerLists {
  readonly shared: ChosenState;
  readonly topics: ServerTopics;
  readonly releases: Releases;
  readonly lifespan: LifespanRun<never>;
  /** The parts of middleware that start and close with the server. */
  readonly lifetimes: MiddlewareLifetimes;
  readonly seal: Seal;
  /** Runs the calls that have an idempotency key. */
  readonly once: RunOnce;
  /** The servers that are mounted in this one. */
  readonly mounts: Late<Mounts>;
  /** The checks that the readiness of the server depends on. */
  readonly checks: () => readonly (() => Promise<void>)[];
}

/** The definitions of a server with their lists. */
interface ServerLists {
  readonly gate: Gate;
  readonly registry: Registry;
  /** The tools that the server lists in place of the others; undefined if it lists all its tools and no others. */
  readonly front: SearchFront | undefined;
}

/** The topics of the bus over which the processes of a server talk to each other. */
interface ServerTopics {
  readonly changes: Topic<ChangeMessage>;
  readonly tasks: Topic<TaskAnnouncement>;
  readonly outcomes: Topic<OutcomeAnnouncement>;
  readonly releases: Topic<ReleaseAnnouncement>;
  readonly events: Topic<EmittedNews>;
}

/** Opens the state of a server. The store and the bus are chosen when they are first used. */
export function openState(compiled: CompiledOptions): OpenState {
  const { options, info, log } = compiled;
  const mounts = late<Mounts>('the mounts');
  const lifetimes = new MiddlewareLifetimes(log);
  const checks = (): readonly (() => Promise<void>)[] => [...lifetimes.checks(), ...mounts.get().checks()];
  const shared = new ChosenState({ ...options, log, checks });
  const { store, leaseMs } = shared;
  const topics = serverTopics(shared, log);
  const hasUser = options.user !== undefined;
  const lists = openLists(compiled, topics, { hasUser, attach: lifetimes.attach });
  return {
    ...lists,
    shared,
    topics,
    mounts,
    lifetimes,
    checks,
    releases: new Releases(lists.registry, topics.releases),
    lifespan: new LifespanRun(options.lifespan) as LifespanRun<never>,
    seal: createSeal(sealOptions(options, { log, store })),
    once: runOnce({ name: info.name, store, outcomes: topics.outcomes, log, hasUser, leaseMs }),
  };
}

/** Makes the lists. The tools of the front are among the definitions that they search. */
function openLists(
  { options, info, log, complete, defaults, compiled }: CompiledOptions,
  { changes }: ServerTopics,
  parts: Pick<Parameters<typeof searchFront>[1], 'hasUser' | 'attach'>,
): ServerLists {
  const finding = late<Omit<FinderParts, 'options'>>('the lists');
  const front = searchFront(options, { ...parts, defaults, compiled, server: finding.get });
  const gate = new Gate(log);
  const registry = new Registry(info, options, { compiled, complete, changes, gate, front });
  finding.provide({ registry, gate, log });
  return { gate, registry, front };
}

function serverTopics({ server, bus }: SharedState, log: Logger): ServerTopics {
  return {
    // Another server on the same engine may have resources with the same URIs, and has lists of its own.
    changes: topic('changes', `changes:${server}`),
    tasks: topic('tasks'),
    outcomes: topic('outcomes'),
    releases: topic('releases'),
    events: topic('events', `events:${server}`),
  };

  function topic<Message extends object>(subject: string, name = subject): Topic<Message> {
    return new Topic({
      name,
      bus,
      onFailure: (error) => log('warning', `The bus could not carry announcements of ${subject}`, error),
    });
  }
}

/**
 * The options of the seal, with the warnings for the operator: a random secret is lost with its process, and the states that it seals are
 * useless to other processes.
 */
function sealOptions(
  { name, secret, asking }: Pick<ServerSettings, 'name' | 'secret' | 'asking'>,
  { log, store }: { readonly log: Logger; readonly store: Store },
): SealOptions {
  let hasSeenForeign = false;
  return {
    server: name,
    secrets: secret,
    ...asking,
    usedStates: store,
    onForeign: () => {
      if (!hasSeenForeign)
        log(
          'warning',
          `A client returned answers with a state that was encrypted with another secret: the secret was changed, this process was restarted without one, or another process has a different one. ${SHARING_ADVICE}`,
        );
      hasSeenForeign = true;
    },
    onUnrecorded: (error) =>
      log('error', 'Answers were rejected: the store could not record their state as used', error),
    onEphemeral: () =>
      log(
        'warning',
        'No secret is set: only this process can use answers to questions, and only until it ends. Set MCP_SECRET or createServer({ secret }).',
      ),
  };
}
