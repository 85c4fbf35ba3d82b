// The keys in Redis. Keys of one partition have a tag in common, so that a script can use them together in a cluster.

/** The keys of one partition. */
export interface Partition {
  /** The last version, token or position that was given out. Never deleted, and never expires. */
  readonly counter: string;
  /** A sorted set of the names of all entries. */
  readonly index: string;
  /** A sorted set of the names of entries that expire, by the time at which they do. */
  readonly expiries: string;
  /** The beginning of the keys of entries. */
  readonly entries: string;
  entry(name: string): string;
  /** The items of a list (a stream) and the set of their names. */
  list(name: string): readonly [items: string, names: string];
  /** The keys of a queue by the time at which they are due (a sorted set), and their leases (a hash). */
  queue(name: string): readonly [due: string, work: string];
  /** The events of a stream, and what is known about it (a hash). */
  stream(name: string): readonly [events: string, facts: string];
}

/** Divides groups among a fixed number of partitions. */
export class Keyspace {
  readonly prefix: string;
  readonly partitions: readonly Partition[];

  constructor(prefix: string, count: number) {
    this.prefix = prefix;
    this.partitions = Array.from({ length: count }, (_, n) => partition(`${prefix}:{p${n}}:`));
  }

  /** The key that has the number of partitions. */
  get layout(): string {
    return `${this.prefix}:partitions`;
  }

  of(group: string): Partition {
    return this.partitions[hashOf(group) % this.partitions.length] as Partition;
  }

  channel(kind: 'bus' | 'stream', name: string): string {
    return `${this.prefix}:${kind}:${name}`;
  }
}

function partition(tag: string): Partition {
  return {
    counter: `${tag}counter`,
    index: `${tag}index`,
    expiries: `${tag}expiries`,
    entries: `${tag}e:`,
    entry: (name) => `${tag}e:${name}`,
    list: (name) => [`${tag}l:${name}`, `${tag}n:${name}`],
    queue: (name) => [`${tag}q:${name}`, `${tag}w:${name}`],
    stream: (name) => [`${tag}s:${name}`, `${tag}f:${name}`],
  };
}

// FNV-1a. All processes, of whatever version, must agree on it: the groups of a running server stay where they are.
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
