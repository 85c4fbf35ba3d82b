// Loads the reports of refused credentials beside a server with `auth`. Others do not load them.

import type {
  RefusedCredentials,
  RefusedCredentialsParts,
  UnauthorizedRequest,
} from './refused-credentials.js';

/** Passes refusals on to a `RefusedCredentials`, which is loaded meanwhile. */
export class RefusalReporter {
  readonly #loading: Promise<RefusedCredentials>;
  #loaded: RefusedCredentials | undefined;

  constructor(parts: RefusedCredentialsParts) {
    this.#loading = import('./refused-credentials.js').then(({ RefusedCredentials }) => {
      this.#loaded = new RefusedCredentials(parts);
      return this.#loaded;
    });
    // Without the reports, requests are still refused.
    this.#loading.catch(() => undefined);
  }

  /** Notes why a request is not served, if that is because of its credentials. */
  note(error: unknown, request: UnauthorizedRequest): void {
    if (this.#loaded !== undefined) this.#loaded.note(error, request);
    else this.#loading.then((reports) => reports.note(error, request)).catch(() => undefined);
  }

  /** Reports what has not been reported yet. */
  async close(): Promise<void> {
    await this.#loading.then(
      (reports) => reports.close(),
      () => undefined,
    );
  }
}
