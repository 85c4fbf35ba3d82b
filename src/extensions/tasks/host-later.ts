// The tasks extension of a server. It is loaded when a tool that can run as a task is first used: most servers have none.

import { fillDefaults, readOptions } from '../../protocol/checks/options.js';
import { tasksTable } from '../../server/define/task-options.js';
import type { TaskHost, TaskPluginParts } from '../../server/handle/task-host.js';
import type { LoadedTaskHost } from './host.js';

const drainTable = { drainMs: { is: 'timer', default: 5000 } } as const;
const METHODS = ['tasks/get', 'tasks/update', 'tasks/cancel'];

/** Makes the host of the extension `io.modelcontextprotocol/tasks`. */
export function taskHostLater(parts: TaskPluginParts): TaskHost {
  const limits = fillDefaults(parts.limits, tasksTable);
  let host: LoadedTaskHost | undefined;
  let loading: Promise<LoadedTaskHost> | undefined;
  let isClosed = false;

  async function load(): Promise<LoadedTaskHost> {
    const { taskHost } = await import('./host.js');
    const loaded = taskHost(parts, limits);
    if (isClosed) await loaded.close(0);
    host = loaded;
    return loaded;
  }

  function use<T>(work: (host: LoadedTaskHost) => Promise<T>): Promise<T> {
    if (host !== undefined) return work(host);
    loading ??= load();
    return loading.then(work);
  }

  return {
    methods: new Map(
      METHODS.map((method) => [
        method,
        (call) =>
          use(({ methods }) => (methods.get(method) as NonNullable<ReturnType<typeof methods.get>>)(call)),
      ]),
    ),
    serve: (call, work) => use((loaded) => loaded.serve(call, work)),
    resume: () => use((loaded) => loaded.resume()),
    filterWatchable: (call, ids) => use((loaded) => loaded.filterWatchable(call, ids)),
    details: (call, id) => use((loaded) => loaded.details(call, id)),
    async close(options: { readonly drainMs?: number } = {}) {
      const { drainMs } = readOptions('drain', options, drainTable);
      isClosed = true;
      await (await loading)?.close(drainMs);
    },
  };
}
