// Starts the inspector of a command, and serves its page.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { fullmcp } from '../../client/model/options.js';
import { CASE_FILE } from '../../evals/cases/case-file.js';
import { TAPE_FOLDERS } from '../../evals/tape/tape-folder.js';
import type { TargetSpec } from '../../inspector/contract/connection.js';
import type { OpenedTarget, RunningInspector } from '../../inspector/contract/options.js';
import { createInspector } from '../../inspector/create-inspector.js';
import { serveInspector } from '../../inspector/host/serve-inspector.js';
import type { TokenStore } from '../../oauth/client/store/token-store.js';
import { McpError } from '../../protocol/errors.js';
import { REQUESTS_FILE } from '../../tooling/requests/saved-request.js';
import { hasLogins, stateFolder } from '../target/login/login-folder.js';
import { loginStore, prepareLoginStore } from '../target/login/login-store.js';
import { type ConfiguredPlace, configuredPlaces, foundServers } from './found-servers.js';
import { openTarget } from './open-target.js';
import { UsedServers } from './used-servers.js';

export interface StartOptions {
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** The target that was typed. It is connected to at once. */
  readonly typed?: OpenedTarget | undefined;
  /** The spec that connects to that target again, if it may be remembered. */
  readonly again?: TargetSpec | undefined;
  /** The tool to show first. */
  readonly tool?: string | undefined;
  /** The file with the servers by name. Default: those of this folder, and of the user's hosts. */
  readonly config?: string | undefined;
  /** Whether calls are kept for later visits. Default: true. */
  readonly hasHistory?: boolean | undefined;
}

export interface StartedInspector {
  readonly inspector: RunningInspector;
  /** The address of the page, with its token. */
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** The name of the target that was typed. No server that was found has it. */
const TYPED = 'typed';

/** Starts to serve, and then to connect: the page is there at once, and shows how connecting goes. */
export async function startInspector(options: StartOptions): Promise<StartedInspector> {
  const { port, typed, again, tool, config, hasHistory = true } = options;
  const used = new UsedServers(join(stateFolder(), 'inspector-servers.json'));
  let places: Promise<readonly ConfiguredPlace[]> | undefined;
  // Read again each time that the page shows them: a configuration may have changed.
  const readPlaces = (): Promise<readonly ConfiguredPlace[]> => {
    places = configuredPlaces(config);
    return places;
  };
  const inspector = createInspector({
    version: fullmcp.version,
    loginStore: sharedLogins(),
    taskFile: join(stateFolder(), 'inspector-tasks.json'),
    ...(hasHistory && { historyFolder: historyFolder() }),
    requestsFile: resolve(REQUESTS_FILE),
    casesFile: resolve(CASE_FILE),
    tapeFolders: TAPE_FOLDERS.map((folder) => resolve(folder)),
    openTarget: async (spec) => {
      if (spec.name === TYPED && typed !== undefined) return withRevision(typed, spec);
      return openTarget(spec, { places: () => places ?? readPlaces(), used });
    },
    found: async () => foundServers(await readPlaces(), used),
    forgetServer: async (id) => {
      if (!id.startsWith('used-'))
        throw new McpError('invalid_params', 'This server is in a configuration. Remove it there.');
      await used.forget(id);
    },
    onConnected: (spec, opened, failure) => {
      const place = spec.name === TYPED ? again : spec;
      // A server of a configuration is found there again.
      if (place?.name === undefined && place !== undefined && !place.text?.trimStart().startsWith('{'))
        void used.remember(place, opened.address, failure);
    },
  });
  const served = await serveInspector(inspector, port === undefined ? {} : { port }).catch(
    async (error: unknown) => {
      await inspector.close();
      throw error;
    },
  );
  if (typed !== undefined) await inspector.open({ name: TYPED }, tool);
  return {
    inspector,
    url: served.url,
    port: served.port,
    close: async () => {
      await served.close();
      await inspector.close();
      // The file of servers may still be being written.
      await used.list();
    },
  };
}

/** The folder for the history of the project in which the command runs. Nothing is written into the project itself. */
function historyFolder(): string {
  const project = realpathSync(process.cwd());
  const name = createHash('sha256').update(project).digest('hex').slice(0, 24);
  return join(stateFolder(), 'inspector-history', name);
}

/** The page may ask for another revision of the same target. */
function withRevision(typed: OpenedTarget, { revision }: TargetSpec): OpenedTarget {
  if (revision === undefined) return typed;
  return { ...typed, options: { ...typed.options, revision: revision as never } };
}

/** The store of `fullmcp auth login`, so that a login in the page counts for later commands, and the other way round. */
export function sharedLogins(): TokenStore {
  const store = loginStore();
  let ready: Promise<void> | undefined;
  const prepared = (): Promise<void> => {
    ready ??= prepareLoginStore();
    return ready;
  };
  return {
    get: async (key) => (hasLogins() ? store.get(key) : undefined),
    set: async (key, value, options) => {
      await prepared();
      return store.set(key, value, options);
    },
    delete: async (key) => {
      if (hasLogins()) await store.delete(key);
    },
    lock: async (key, options) => {
      await prepared();
      return store.lock(key, options);
    },
  };
}
