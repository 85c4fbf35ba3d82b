import type { AuthContext } from '../../../state/auth-provider.js';
import type { Store } from '../../../state/store.js';
import { cannotCheck } from '../credentials.js';

/** A token that is valid for longer is valid again after this time, which no access token should be. */
const KEEP_MS = 30 * 24 * 3_600_000;

/** The tokens that were revoked, in the store that the processes of the server share. */
export class Revocations {
  readonly #isOn: boolean;
  #store: Store | undefined;

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  start({ shared }: Pick<AuthContext, 'shared'>): void {
    this.#store = shared.store;
  }

  async add(digest: string, functionName: string): Promise<void> {
    if (!this.#isOn) throw new TypeError(`${functionName}: \`revoke\` needs the option \`revocable: true\`.`);
    if (this.#store === undefined)
      throw new TypeError(`${functionName}: \`revoke\` needs a server that uses this provider.`);
    await this.#store.write([{ do: 'put', key: keyOf(digest), value: {}, ttlMs: KEEP_MS }]);
  }

  async has(digest: string): Promise<boolean> {
    if (!this.#isOn) return false;
    try {
      if (this.#store === undefined) throw new Error('The provider was not started.');
      return (await this.#store.get(keyOf(digest))) !== undefined;
    } catch (error) {
      throw cannotCheck(
        'The token cannot be checked now, because the server cannot read which tokens were revoked. Retry later.',
        error,
      );
    }
  }
}

function keyOf(digest: string): string {
  return `revoked-token:${digest}`;
}
