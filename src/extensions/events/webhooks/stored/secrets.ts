// The secrets of subscriptions, sealed for their place in the store.

import { digestOf } from '../../../../protocol/canonical.js';
import {
  deriveSealingKey,
  type SealingKey,
  sealBytes,
  unsealBytes,
} from '../../../../protocol/encoding/sealing.js';
import { readSecret, type WebhookKey, webhookKey } from '../../../../protocol/events/signature.js';
import type { KeptSecret } from './subscription.js';

const PURPOSE = 'event webhooks';
const SEALED = 's.';
const CLEAR = 'c.';
/** The time for which messages are also signed with a secret that was replaced. */
const ROTATION_MS = 3_600_000;
/** The secrets that a message is signed with, at most: receivers look at a few signatures. */
const MAX_SECRETS = 3;

const encoder = new TextEncoder();

/** Seals the secrets of subscriptions, if the server has secrets of its own. */
export class SecretKeeper {
  readonly #secrets: () => readonly string[] | undefined;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(secrets: () => readonly string[] | undefined) {
    this.#secrets = secrets;
  }

  /** Keeps a secret for the subscription at a place. */
  async keep(secret: string, place: string): Promise<KeptSecret> {
    const [key] = await this.#sealingKeys();
    if (key === undefined) return { sealed: CLEAR + secret };
    return { sealed: SEALED + (await sealBytes(key, encoder.encode(secret), await digestOf(place))) };
  }

  /** Keeps a secret in place of others. They are used for a while, unless they are the same. */
  async rotate(kept: readonly KeptSecret[], secret: string, place: string): Promise<readonly KeptSecret[]> {
    const now = Date.now();
    const opened = await Promise.all(kept.map((each) => this.#open(each, place)));
    const older = kept.flatMap((each, at) =>
      opened[at] === secret || !isUsed(each, now) ? [] : [{ until: now + ROTATION_MS, ...each }],
    );
    return [await this.keep(secret, place), ...older].slice(0, MAX_SECRETS);
  }

  /** The keys to sign with, the newest first; empty if the secrets of the server have changed. */
  async keysOf(kept: readonly KeptSecret[], place: string): Promise<readonly WebhookKey[]> {
    const used = kept.filter((each) => isUsed(each, Date.now()));
    const secrets = await Promise.all(used.map((each) => this.#open(each, place)));
    const bytes = secrets.flatMap((secret) => readSecret(secret) ?? []);
    return Promise.all(bytes.map((each) => webhookKey(each)));
  }

  async #open({ sealed }: KeptSecret, place: string): Promise<string | undefined> {
    if (sealed.startsWith(CLEAR)) return sealed.slice(CLEAR.length);
    const keys = await this.#sealingKeys();
    const opened = await unsealBytes(keys, sealed.slice(SEALED.length), await digestOf(place));
    return opened === undefined || opened === 'foreign' ? undefined : new TextDecoder().decode(opened.plain);
  }

  #sealingKeys(): Promise<readonly SealingKey[]> {
    this.#keys ??= Promise.all((this.#secrets() ?? []).map((secret) => deriveSealingKey(secret, PURPOSE)));
    return this.#keys;
  }
}

function isUsed({ until }: KeptSecret, now: number): boolean {
  return until === undefined || until > now;
}
