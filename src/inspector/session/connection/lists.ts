// The lists of a connection, which are fetched again when the server says that they have changed.

import type { Client } from '../../../client/model/client.js';
import type { CatalogView, ConnectionView } from '../../contract/connection.js';
import type { Wiretap } from '../../wiretap/wiretap.js';
import { emptyCatalog, fetchCatalog } from './catalog.js';
import { type FailingConnection, failureOf } from './failure.js';
import type { SharedParts } from './shared-parts.js';

const REFRESH_MS = 100;
const PING = { timeoutMs: 30_000 };

/** The connection, as its lists need it. */
export interface ListsOwner extends FailingConnection {
  readonly status: ConnectionView['status'];
  readonly client: Client | undefined;
  readonly open: { readonly client: Client; readonly tap: Wiretap };
  roundTripMs: number | undefined;
  readonly changed: () => void;
}

export class Lists {
  readonly #connection: ListsOwner;
  readonly #shared: SharedParts;
  #catalog: CatalogView = emptyCatalog;
  #waiting: NodeJS.Timeout | undefined;
  #isListing = false;

  constructor(connection: ListsOwner, shared: SharedParts) {
    this.#connection = connection;
    this.#shared = shared;
  }

  get catalog(): CatalogView {
    return this.#catalog;
  }

  /** Lists everything again. */
  async refresh(): Promise<void> {
    const connection = this.#connection;
    const { client, tap } = connection.open;
    if (this.#isListing) return this.refreshSoon();
    this.#isListing = true;
    const { book } = this.#shared;
    const story = book.begin({
      connection: connection.id,
      kind: 'list',
      title: 'lists',
      method: 'tools/list',
    });
    try {
      await tap.run(story.scope, async () => {
        const catalog = await fetchCatalog(client, this.#catalog.version + 1, (tools) =>
          this.#shared.scoresOf(tools),
        );
        if (client !== connection.client) return;
        this.#catalog = catalog;
        connection.roundTripMs = await client.ping(PING).catch(() => undefined);
      });
      const [failed] = this.#catalog.failures;
      story.end(
        failed === undefined
          ? { state: 'ok' }
          : { state: 'error', error: { code: 'list_failed', message: `${failed.list}: ${failed.message}` } },
      );
    } catch (error) {
      story.end({ state: 'error', error: failureOf(connection, error, story.at) });
    } finally {
      this.#isListing = false;
      connection.changed();
    }
  }

  /** Lists everything again in a moment: changes rarely come alone. */
  refreshSoon(): void {
    this.#waiting ??= setTimeout(() => {
      this.#waiting = undefined;
      if (this.#connection.status === 'ready') void this.refresh().catch(() => {});
    }, REFRESH_MS);
    this.#waiting.unref();
  }

  stop(): void {
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
  }
}
