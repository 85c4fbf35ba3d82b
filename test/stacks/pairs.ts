// The parts that can be stacked, what each promises, and for each pair of them the test that shows that the promises still hold.
// docs/composition.md has the table of the promises; pairs.test.ts compares them.

import { type LayerSpec, leavesOf, type StackSpec } from './spec.js';

interface Promises {
  /** The callers that get something: apart from each other, and nothing that is hidden. */
  readonly who: string;
  /** How often something happens. */
  readonly often: string;
  /** The order of decisions and effects. */
  readonly order: string;
  /** The limits of what is kept and used. */
  readonly much: string;
}

/** The promises of each part, in the order of the page. */
export const parts = {
  'a gateway': {
    who: 'callers see and use what `allow` and the pins leave; the servers see the gateway unless `identity` says otherwise',
    often: 'a call goes to one server, once',
    order:
      '`allow` and the pins decide before the middleware of `use`, and again if the middleware changes the call',
    much: '`maxConnections` to each server, and a share of them for each caller',
  },
  'a proxy': {
    who: 'the server sees the proxy unless `identity` says otherwise; idempotency keys, questions and connections stay those of their caller',
    often: 'a call is sent once',
    order: 'its `use`, then the server',
    much: '`maxConnections`, `answerMs` for questions, and a share of both for each caller',
  },
  'a mounted server': {
    who: 'the rules of the outer and of the mounted server both hold',
    often: 'a call is made once, in the same process',
    order: 'the `use` of the outer server, then that of the mounted one',
    much: 'nothing of its own',
  },
  '`transform`': {
    who: 'a hidden definition does not exist for anybody outside',
    often: 'as the definition itself',
    order: 'its rules are added to those of the definition, and decide where those decide',
    much: 'nothing of its own',
  },
  '`cache`': {
    who: 'a result is for the caller that got it, unless the server or the option says that it is public',
    often: 'equal calls at the same time run once',
    order: 'rules of access, policies, `allow` and pins come first, wherever `cache` stands',
    much: '`maxEntries`, `maxChars`, `ttlMs`; no key above 4,000 characters',
  },
  '`rateLimit`': {
    who: 'callers are counted apart, unless `by` says otherwise',
    often: 'a refused call does not run',
    order: 'counts what reaches it: in front of `cache`, kept results count as well',
    much: '`maxKeys`; of a long name, a digest is kept',
  },
  '`concurrency`': {
    who: 'one queue for all, or one for each caller, address or tool',
    often: 'a waiting call runs once, or not at all',
    order: 'a place is taken before the call runs, and is free when its handler has ended',
    much: '`limit` and `queue`',
  },
  'idempotency keys': {
    who: 'a key belongs to its caller and its tool, also through proxies and gateways',
    often: 'once for each caller and key, in the window',
    order: 'access is decided for each repetition; the key is stored before the handler runs',
    much: '256 characters, 1,000 calls of a caller at a time',
  },
  'rules of access and policies': {
    who: 'something hidden cannot be listed, used, completed, followed or found, and looks like something unknown',
    often: 'an approval is used once',
    order:
      'before a handler runs and before a kept result is used, and again in every round of a call that asks',
    much: 'nothing is kept',
  },
  pins: {
    who: 'a definition that was added or changed is hidden from everybody until it is accepted',
    often: 'every difference is reported once',
    order: 'with the rules, before routing and before the middleware of `use`',
    much: 'the lock file; 10,000 reported differences',
  },
  search: {
    who: 'finds what its caller may use',
    often: 'a call through `call_tool` is one call of the tool',
    order: 'outside of the middleware, which sees the tool itself',
    much: 'a query of 500 characters, 50 results',
  },
  tasks: {
    who: 'a task belongs to its caller. Behind a proxy that hides its callers, its id is the protection',
    often: 'a recorded step does not run again',
    order: 'access is decided again before a task is resumed',
    much: '`maxTasks`, `maxTasksPerCaller`, bytes, `ttlMs`',
  },
  'sessions of older revisions': {
    who: 'a session belongs to the caller that began it',
    often: 'a message is handled once, also after a lost connection',
    order: 'the messages of a session, in their order',
    much: 'the sessions of a server and of a caller are limited',
  },
  tapes: {
    who: 'a tape has the calls of all callers, without secrets',
    often: 'a replay does not run what may change something, unless it is allowed',
    order: 'the calls of the tape, in their order',
    much: 'one line for each event',
  },
  '`audit`': {
    who: 'the caller that the layer with `audit` sees',
    often: 'one entry for each call, or two with `intent`',
    order: 'the entry is written before the caller gets the result',
    much: '`maxPending` entries while they cannot be written',
  },
  '`outputBudget`': {
    who: 'only the same caller can read the rest of a result',
    often: 'the rest can be read for `ttlMs`',
    order: 'behind `sizeLimit`, in front of `cache`, in the `use` of the server that clients connect to',
    much: '`maxStored` results of each caller, `maxStoredChars` of each',
  },
  'state for callers': {
    who: 'a value belongs to its caller; an anonymous caller over HTTP has none',
    often: '`update` runs again if another call has written meanwhile',
    order: 'the last write counts',
    much: '256 kB for a value, 100 values of a kind, 30 days',
  },
  retries: {
    who: 'as the call that is retried',
    often: 'only calls that are safe to repeat are repeated',
    order: 'behind `cache`, in front of the connection',
    much: '`maxRetries`, at most 30 s between two',
  },
  workers: {
    who: 'all processes of a server decide by the same rules',
    often: 'tasks and keys in a shared store are taken by one process at a time',
    order: 'as in one process',
    much: 'limits in memory count for each process; rates and tasks for all',
  },
} as const satisfies Readonly<Record<string, Promises>>;

export type PartName = keyof typeof parts;

/** Why a pair needs no test of its own, or the tests beside the random stacks that are about exactly this pair. */
type Cell = string | readonly { readonly file: string; readonly test: string }[];

const unit = (file: string, test: string): Cell => [{ file: `test/unit/${file}`, test }];

/** The cells that are not only random stacks, by the names of the pair. */
export const cells: Readonly<Record<string, Cell>> = {
  'a gateway × pins': unit(
    'connect/gateway/hidden.test.ts',
    'a resource that is added to a server with a template of another shape cannot be read',
  ),
  'a gateway × `cache`': unit(
    'connect/gateway/rules-first.test.ts',
    'callers who reach different servers by one name do not get results of each other',
  ),
  'a gateway × search': unit(
    'connect/gateway/rules-first.test.ts',
    'a search does not lead around the rules',
  ),
  'a gateway × rules of access and policies': unit(
    'connect/gateway/hidden.test.ts',
    'hides without shadowing, for each caller apart',
  ),
  'a gateway × tasks': unit(
    'connect/gateway/hidden.test.ts',
    'keeps callers who may use no tool of a server away from its tasks',
  ),
  'a gateway × `outputBudget`': unit(
    'connect/gateway/rules-first.test.ts',
    'the rest of a large result can be read, whatever the rule says about the URIs of servers',
  ),
  'a proxy × idempotency keys': unit(
    'connect/proxy/chains.test.ts',
    'callers who share the credentials of a proxy do not share keys',
  ),
  'a proxy × search': unit(
    'connect/proxy/chains.test.ts',
    'a call through a search has the key of its caller, too',
  ),
  'a proxy × sessions of older revisions': unit(
    'connect/proxy/chains.test.ts',
    'passes on the questions of an older server, and their answers',
  ),
  '`cache` × rules of access and policies': unit(
    'middleware/cache/on-a-server.test.ts',
    'of a policy make a person approve a call, even if its result was kept before',
  ),
  '`transform` × `cache`': unit(
    'middleware/cache/rules-first.test.ts',
    'the policy of an outer server and the rule of a transform come before the cache, too',
  ),
  '`cache` × search': unit(
    'middleware/cache/rules-first.test.ts',
    'a tool that is called through a search is not answered from the cache for a caller who may not call it',
  ),
  'a mounted server × tasks': unit('server/mount/rules.test.ts', 'runs as a task of the outer server'),
  'a mounted server × search': unit(
    'server/search/search.test.ts',
    'and leaves the tools of a mounted server that searches to the outer one',
  ),
  'tasks × `outputBudget`': unit(
    'middleware/task-notifications.test.ts',
    'outputBudget shortens the result in a notification of a task as it does in tasks/get',
  ),
  'a gateway × workers':
    'A gateway is a server: each worker has its own connections and its own view of the pins.',
  'a proxy × workers':
    'Calls that wait for the answers to questions of an older server belong to one process: docs/proxy.md says to send a caller to the same one.',
  'a mounted server × workers': 'The outer and the mounted server are one server, in each worker.',
  '`transform` × workers':
    'A transform is made when the server is defined, so that it is the same in each worker.',
  '`cache` × workers': 'Each process keeps its own results, and drops them with the changes of all.',
  '`rateLimit` × workers': [{ file: 'test/flows/cluster/rates.test.ts', test: 'replicas that share a rate' }],
  '`concurrency` × workers': 'Each process counts its own calls.',
  'idempotency keys × workers': [
    { file: 'test/unit/adapters/node/workers/workers.test.ts', test: 'shares idempotency keys between them' },
  ],
  'rules of access and policies × workers':
    'Rules keep nothing between calls, and approvals are used once in the shared store.',
  'pins × workers': 'The lock file is read when a process starts, and each process compares for itself.',
  'search × workers': 'An index is made of the definitions, which are the same in each worker.',
  'tasks × workers': [
    {
      file: 'test/unit/adapters/node/workers/workers.test.ts',
      test: 'finds the tasks of each of them at all',
    },
  ],
  'sessions of older revisions × workers':
    'Sessions are in the shared store: test/flows/sessions/processes.test.ts.',
  'tapes × workers': 'A recorder is in one process, and its tape has the calls of that process.',
  '`audit` × workers': 'Each process writes a chain of its own: docs/audit.md.',
  '`outputBudget` × workers': 'The rest of a result is in the shared store, which every process reads.',
  'state for callers × workers':
    'Values are in the shared store, and an update runs again if another process has written.',
  'retries × workers': 'A retry that reaches another worker is an ordinary call there.',
};

/** The place of each part in a stack: a smaller number is further outside. */
export function placesOf({ top, wire, program }: StackSpec): ReadonlyMap<PartName, readonly number[]> {
  const places = new Map<PartName, number[]>();
  const add = (part: PartName, place: number): void =>
    void places.set(part, [...(places.get(part) ?? []), place]);
  if (wire.endsWith('2025')) add('sessions of older revisions', -1);
  if (program.some((op) => op.do === 'replay')) add('tapes', -0.5);
  visit(top, 0);
  return places;

  function visit(layer: LayerSpec, depth: number): void {
    if (layer.search) add('search', depth);
    layer.use.forEach((part, at) => {
      const name = middleware[part.part];
      if (name !== undefined) add(name, depth + 0.2 + at / 100);
    });
    if (layer.kind === 'gateway' || layer.kind === 'proxy') {
      add(layer.kind === 'gateway' ? 'a gateway' : 'a proxy', depth + 0.1);
      if (layer.link === '2025') add('sessions of older revisions', depth + 0.9);
    }
    if (layer.kind === 'gateway') {
      if (layer.hides.length > 0) add('rules of access and policies', depth + 0.15);
      if (layer.pins) add('pins', depth + 0.15);
      for (const { of } of layer.members) visit(of, depth + 1);
    } else if (layer.kind === 'proxy') visit(layer.of, depth + 1);
    else if (layer.kind === 'mount') {
      add('a mounted server', depth + 0.8);
      if (layer.transform !== undefined) add('`transform`', depth + 0.85);
      visit(layer.of, depth + 1);
    } else {
      add('rules of access and policies', depth + 0.15);
      const tools = leavesOf(layer).flatMap((leaf) => leaf.tools);
      if (tools.includes('pay')) add('idempotency keys', depth + 0.95);
      if (tools.includes('job')) add('tasks', depth + 0.95);
      if (tools.includes('note')) add('state for callers', depth + 0.95);
    }
  }
}

const middleware: Readonly<Record<string, PartName | undefined>> = {
  cache: '`cache`',
  rateLimit: '`rateLimit`',
  concurrency: '`concurrency`',
  outputBudget: '`outputBudget`',
  audit: '`audit`',
  retry: 'retries',
  recorder: 'tapes',
};

/** Parts of handlers, which everything else is in front of. */
export const innermost: ReadonlySet<PartName> = new Set(['idempotency keys', 'tasks', 'state for callers']);

/** Pairs of which only one order exists, and why. */
export const onlyInOneOrder: Readonly<Record<string, string>> = {
  'a gateway × a mounted server':
    'A mounted server is a server in the same process, so that a gateway is always in front of it.',
  'a proxy × a mounted server':
    'A mounted server is a server in the same process, so that a proxy is always in front of it.',
  'a gateway × `transform`': 'A transform belongs to a mount.',
  'a proxy × `transform`': 'A transform belongs to a mount.',
  'a mounted server × `transform`': 'A transform belongs to a mount.',
  'a mounted server × pins': 'Pins belong to a gateway, which is in front of a mounted server.',
  '`transform` × pins': 'Pins belong to a gateway, which is in front of a mounted server.',
};
