// A stack and the program that is run through it, as data: both follow from a seed, can be printed, and can be made smaller.

import type { Random } from '../simulation/world/random.js';
import { type BookCode, everyone, type Kind, TOOLS, type Who } from './reference-server.js';

/** A middleware of a stack. */
export type Part =
  | { readonly part: 'cache'; readonly scope: 'public' | 'private'; readonly tools: boolean }
  | { readonly part: 'rateLimit'; readonly by: 'caller' | 'tool'; readonly limit: number }
  | { readonly part: 'concurrency'; readonly by: 'caller' | 'tool' | 'everyone'; readonly limit: number }
  | { readonly part: 'outputBudget' | 'audit' | 'retry' | 'recorder' | 'logging' | 'sizeLimit' | 'breaker' };

interface Layer {
  readonly use: readonly Part[];
  /** Whether two tools are listed in place of all others. */
  readonly search: boolean;
}

/** A reference server. */
export interface ServerSpec extends Layer {
  readonly kind: 'server';
  readonly leaf: string;
  /** The scheme of its URIs. Two servers may have the same. */
  readonly scheme: string;
  /** The tools that it has, besides `public`. */
  readonly tools: readonly string[];
  /** Whether a policy denies `wipe` to bob and asks before `wipe` of everyone else. */
  readonly policy: boolean;
}

/** A server in which another one is mounted. */
export interface MountSpec extends Layer {
  readonly kind: 'mount';
  readonly prefix: string;
  readonly of: ServerSpec | MountSpec;
  /** The changes that `transform` makes on the way; undefined without it. */
  readonly transform?: 'rename' | 'hide' | 'guard' | undefined;
}

/** How the layers reach what is behind them. */
export type LinkSpec = 'memory' | '2026' | '2025';

/** A proxy in front of another layer. */
interface ProxySpec extends Layer {
  readonly kind: 'proxy';
  readonly of: LayerSpec;
  readonly link: LinkSpec;
  readonly identity: 'drop' | 'own';
}

/** Hides, in a gateway, everything of one caller that begins with a prefix. */
interface HidingRule {
  readonly who: Who;
  readonly prefix: string;
}

/** A gateway in front of one or two other layers. */
export interface GatewaySpec extends Layer {
  readonly kind: 'gateway';
  readonly members: readonly { readonly name: string; readonly of: LayerSpec }[];
  readonly link: LinkSpec;
  readonly identity: 'drop' | 'own';
  readonly hides: readonly HidingRule[];
  readonly pins: boolean;
}

export type LayerSpec = ServerSpec | MountSpec | ProxySpec | GatewaySpec;

/** One step of a program. Names are chosen from those of the stack by a number, so that a smaller stack can run the same program. */
export type Op =
  | { readonly do: 'list'; readonly who: Who; readonly kind: Kind }
  | {
      readonly do: 'use';
      readonly who: Who;
      readonly kind: Kind;
      readonly at: number;
      /** Whether all others try the same afterwards, if possible something hidden from them: parts may have kept what the first got. */
      readonly thenAll: boolean;
    }
  | { readonly do: 'missing'; readonly who: Who; readonly kind: Kind; readonly at: number }
  | { readonly do: 'complete'; readonly who: Who; readonly at: number }
  | { readonly do: 'search'; readonly who: Who; readonly at: number }
  | {
      readonly do: 'pay';
      readonly who: Who;
      readonly at: number;
      readonly key: number;
      readonly times: number;
    }
  | { readonly do: 'hostile'; readonly who: Who; readonly at: number; readonly length: number }
  | { readonly do: 'burst'; readonly who: Who; readonly at: number; readonly count: number }
  | { readonly do: 'follow'; readonly who: Who; readonly at: number }
  | {
      readonly do: 'late';
      readonly at: number;
      readonly kind: Exclude<Kind, 'template'>;
      readonly name: number;
    }
  | { readonly do: 'task'; readonly who: Who; readonly at: number }
  | { readonly do: 'output'; readonly who: Who; readonly at: number }
  | { readonly do: 'crowd'; readonly who: Who; readonly other: Who; readonly at: number }
  | { readonly do: 'deploy'; readonly who: Who; readonly at: number; readonly code: BookCode }
  | { readonly do: 'visit'; readonly who: Who; readonly at: number; readonly scheme: string }
  | { readonly do: 'replay' };

/** How the callers are connected. */
export type WireSpec = 'raw' | 'in-process' | 'http 2026' | 'http 2025' | 'stdio 2025';

export interface StackSpec {
  readonly top: LayerSpec;
  readonly wire: WireSpec;
  readonly program: readonly Op[];
}

/** How often each step is chosen, of all steps. */
const WEIGHTS: Readonly<Record<Op['do'], number>> = {
  list: 6,
  use: 20,
  missing: 4,
  complete: 4,
  search: 2,
  pay: 6,
  hostile: 3,
  burst: 2,
  follow: 2,
  late: 3,
  task: 2,
  output: 2,
  crowd: 1,
  deploy: 1,
  visit: 1,
  replay: 1,
};
const OPS = Object.entries(WEIGHTS).flatMap(([op, weight]) => Array(weight).fill(op) as Op['do'][]);
const KINDS: readonly Kind[] = ['tool', 'tool', 'prompt', 'resource', 'template'];
/** A server's name may be the beginning of another's. */
const NAMES = [
  ['shop', 'shop_bank'],
  ['shop_bank', 'shop'],
  ['a', 'b'],
  ['docs', 'docs-2'],
] as const;
const SCHEMES = ['doc', 'doc', 'file2'];
/** They collide with the names of other servers once they have a prefix. */
export const LATE_NAMES = {
  tool: ['bank_public', 'late', 'bank_late', 'public2', '__proto__', 'constructor'],
  prompt: ['bank_hello', 'late', '__proto__'],
  resource: ['doc-item://late', 'file2-item://late', 'late://one', 'doc://public', 'file2://mine'],
} as const;
const CODES: readonly BookCode[] = ['first', 'removed', 'added', 'renamed', 'reordered'];
const URL_SCHEMES = ['https', 'https', 'javascript', 'data', 'file'];

/** A random stack with a random program. */
export function randomStack(random: Random): StackSpec {
  let leaves = 0;
  // Callers come to the same few things.
  const favourites = Array.from({ length: 3 }, () => random.whole(0, 1_000_000));
  const depth = random.pick([0, 1, 1, 2, 2, 2, 3]);
  return {
    top: layer(depth),
    wire: random.chance(0.75)
      ? 'raw'
      : random.pick(['in-process', 'in-process', 'http 2026', 'http 2025', 'stdio 2025']),
    program: Array.from({ length: random.whole(4, 12) }, op),
  };

  function layer(left: number): LayerSpec {
    if (left === 0) return server();
    const kind = random.pick(['proxy', 'proxy', 'gateway', 'gateway', 'gateway', 'mount'] as const);
    if (kind === 'mount') return mount(left);
    if (kind === 'proxy')
      return {
        kind,
        of: layer(left - 1),
        link: link(),
        identity: identity(),
        use: use(),
        search: random.chance(0.12),
      };
    const names = random.pick(NAMES);
    const count = random.chance(0.7) ? 2 : 1;
    const hides = random.chance(0.5) ? Array.from({ length: random.whole(1, 3) }, hiding) : [];
    return {
      kind,
      members: names
        .slice(0, count)
        .map((name, at) => ({ name, of: layer(at === 0 ? left - 1 : random.whole(0, left - 1)) })),
      link: link(),
      identity: identity(),
      hides,
      pins: random.chance(0.3),
      use: use(),
      search: random.chance(0.12),
    };
  }

  function server(): ServerSpec {
    return {
      kind: 'server',
      leaf: `server${leaves++}`,
      scheme: random.pick(SCHEMES),
      tools: TOOLS.filter(() => random.chance(0.35)),
      use: use(),
      search: random.chance(0.12),
      policy: random.chance(0.15),
    };
  }

  function mount(left: number): MountSpec {
    const of = left > 1 && random.chance(0.5) ? mount(left - 1) : server();
    return {
      kind: 'mount',
      prefix: random.pick(['m', 'inner', '']),
      of,
      transform: random.pick([undefined, undefined, 'rename', 'hide', 'guard'] as const),
      use: use(),
      search: random.chance(0.12),
    };
  }

  function use(): readonly Part[] {
    if (random.chance(0.5)) return [];
    return Array.from({ length: random.whole(1, 3) }, part);
  }

  function part(): Part {
    const kind = random.pick([
      'cache',
      'cache',
      'cache',
      'rateLimit',
      'concurrency',
      'outputBudget',
      'other',
      'other',
    ] as const);
    if (kind === 'cache')
      return { part: kind, scope: random.pick(['public', 'private', 'private']), tools: random.chance(0.6) };
    if (kind === 'rateLimit')
      return { part: kind, by: random.pick(['caller', 'tool']), limit: random.pick([3, 1000]) };
    if (kind === 'concurrency')
      return { part: kind, by: random.pick(['caller', 'tool', 'everyone']), limit: random.whole(1, 3) };
    if (kind === 'outputBudget') return { part: kind };
    return { part: random.pick(['audit', 'retry', 'recorder', 'logging', 'sizeLimit', 'breaker'] as const) };
  }

  function link(): LinkSpec {
    return random.chance(0.75) ? 'memory' : random.pick(['2026', '2025']);
  }

  function identity(): 'drop' | 'own' {
    return random.pick(['drop', 'own']);
  }

  function hiding(): HidingRule {
    return {
      who: random.pick(everyone),
      prefix: random.pick(['bank_', 'public', 'hello', 'pay', 'doc', 'doc', 'file2', 'm+', 'late']),
    };
  }

  function op(): Op {
    const kind = random.pick(OPS);
    const who = random.pick(everyone);
    const at = random.chance(0.7) ? random.pick(favourites) : random.whole(0, 1_000_000);
    switch (kind) {
      case 'use':
        return {
          do: kind,
          who,
          at,
          kind: KINDS[at % KINDS.length] as Kind,
          thenAll: random.chance(0.3),
        };
      case 'list':
      case 'missing':
        return { do: kind, who, at, kind: KINDS[at % KINDS.length] as Kind };
      case 'pay':
        return { do: kind, who, at, key: random.whole(1, 2), times: random.whole(1, 2) };
      case 'hostile':
        return { do: kind, who, at, length: random.pick([5, 300, 5000]) };
      case 'burst':
        return { do: kind, who, at, count: random.whole(2, 6) };
      case 'late':
        return {
          do: kind,
          at,
          kind: random.pick(['tool', 'resource', 'resource', 'prompt']),
          name: random.whole(0, 1000),
        };
      case 'crowd':
        return { do: kind, who, other: random.pick(everyone.filter((each) => each !== who)), at };
      case 'deploy':
        return { do: kind, who, at, code: random.pick(CODES) };
      case 'visit':
        return { do: kind, who, at, scheme: random.pick(URL_SCHEMES) };
      case 'replay':
        return { do: kind };
      default:
        return { do: kind, who, at } as Op;
    }
  }
}

/** The reference servers of a stack. */
export function leavesOf(layer: LayerSpec): readonly ServerSpec[] {
  switch (layer.kind) {
    case 'server':
      return [layer];
    case 'gateway':
      return layer.members.flatMap(({ of }) => leavesOf(of));
    default:
      return leavesOf(layer.of);
  }
}

/** All layers of a stack, the outermost first. */
export function layersOf(layer: LayerSpec): readonly LayerSpec[] {
  switch (layer.kind) {
    case 'server':
      return [layer];
    case 'gateway':
      return [layer, ...layer.members.flatMap(({ of }) => layersOf(of))];
    default:
      return [layer, ...layersOf(layer.of)];
  }
}
