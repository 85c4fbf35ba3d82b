// The tables of a store in an LMDB database.

// The package's types for ES modules are not valid TypeScript; those for CommonJS are.
export type Lmdb = typeof import('lmdb', { with: { 'resolution-mode': 'require' }});
/** An open LMDB database, the table of tables. */
export type LmdbRoot = ReturnType<Lmdb['open']>;

type Key = string | number | (string | number)[];

type Table<V, K extends Key> = import('lmdb', { with: { 'resolution-mode': 'require' }}).Database<V, K>;

/** The number of items, and of bytes where they count. */
export interface Total {
  readonly entries: number;
  readonly bytes: number;
}

type TotalKey = `total:${string}` | `size:${string}`;

/** The facts about the whole database. */
export interface Facts {
  readonly format: number;
  /** The last number that was given to a version, a token, a position or a list. No number is given twice. */
  readonly counter: number;
  /** The time of the last transaction, and how far it was ahead of the clock of the machine. */
  readonly time: number;
  readonly ahead: number;
}

/** A list without its items. */
export interface ListRow {
  readonly id: number;
  readonly size: number;
  readonly bytes: number;
  readonly expiresAt: number | null;
}

/** A key in a queue. */
export interface WorkRow {
  /** When the key is due; while it is held, when its lease ends. */
  readonly due: number;
  /** The token of the lease; 0 if nobody holds the key. */
  readonly token: number;
  readonly attempt: number;
  readonly owner: string;
}

/** The tables of a store. */
export interface Tables {
  readonly root: LmdbRoot;
  /** One row, `facts`. It is in one table with the totals, so that a write touches few pages. */
  readonly facts: Table<Facts, 'facts'>;
  /** The entries and bytes of each kind and each caller, and the number of keys in each queue. */
  readonly totals: Table<Total, TotalKey>;
  /** Where the processes run that share the database, by their ids; see `checkNeighbours`. */
  readonly homes: Table<string, number>;
  /** Each value is a version, a space, the time of expiry or nothing, a space, and JSON. */
  readonly values: Table<string, string>;
  readonly lists: Table<ListRow, string>;
  /** The items of a list by its id and their positions. Each value is a name, a line feed, and JSON. */
  readonly items: Table<string, [number, number]>;
  /** The positions of the items by the id of the list and their names. */
  readonly names: Table<number, [number, string]>;
  /** The ids of lists that were dropped, whose items are still there. */
  readonly dropped: Table<true, number>;
  /** The entries and lists by their time of expiry. */
  readonly expiries: Table<true, [number, 'value' | 'list', string]>;
  readonly work: Table<WorkRow, [string, string]>;
  /** The keys of a queue by the time at which they are due. */
  readonly due: Table<true, [string, number, string]>;
}

/** The version of this layout. A database with another one is not opened. */
export const FORMAT = 2;

/** Opens the tables of the store at `path`. `beforeFirstRead` may throw if the store cannot be read. */
export function openTables(lmdb: Lmdb, path: string, beforeFirstRead: (root: LmdbRoot) => void): Tables {
  const root = lmdb.open({
    path,
    noSubdir: false,
    // A commit waits for the disk, so that what another process reads is not lost with this one.
    overlappingSync: false,
    maxDbs: 16,
    // With batching by turns of the event loop, a commit that fails leaves a rejected promise that nobody can reach.
    eventTurnBatching: false,
  });
  try {
    beforeFirstRead(root);
    checkFormat(root, path);
    const table = <V, K extends Key>(name: string): Table<V, K> =>
      root.openDB<V, K>({ name, encoding: 'json' });
    const text = <K extends Key>(name: string): Table<string, K> =>
      root.openDB<string, K>({ name, encoding: 'string' });
    const state = table('state');
    return {
      root,
      facts: state as Tables['facts'],
      totals: state as Tables['totals'],
      homes: text('homes'),
      values: text('values'),
      lists: table('lists'),
      items: text('items'),
      names: table('names'),
      dropped: table('dropped'),
      expiries: table('expiries'),
      work: table('work'),
      due: table('due'),
    };
  } catch (error) {
    void root.close();
    throw error;
  }
}

function checkFormat(root: LmdbRoot, path: string): void {
  const names = new Set(root.getKeys());
  // The first format had two tables, and tasks that cannot be resumed from what they stored.
  if (names.has('entries'))
    throw new Error(
      `The store at ${path} was written by an earlier version of fullmcp, whose tasks this version cannot resume. Let the earlier version finish them, then use another folder. Nothing in this one was changed.`,
    );
  if (!names.has('state')) return;
  const format =
    root.openDB<Facts, string>({ name: 'state', encoding: 'json' }).get('facts')?.format ?? FORMAT;
  if (format !== FORMAT)
    throw new Error(
      `The store at ${path} has format ${format}, and this version of fullmcp reads format ${FORMAT}. Use the version that wrote it, or another folder. Nothing in this one was changed.`,
    );
}
