import type { OptionTable } from '../../../protocol/checks/options.js';

/** One difference between what a server offers and what the lock file has. */
export interface PinChange {
  /** The name of the server in the config. */
  readonly server: string;
  /** The kind of thing that has changed. `server` stands for the advice that it gives to models. */
  readonly kind: 'tool' | 'prompt' | 'resource' | 'template' | 'event' | 'server';
  /** The name, or the URI. Of a renamed one, the new name. */
  readonly name: string;
  /** `swapped`: it is now what `was` was, and the other way round. */
  readonly change: 'added' | 'removed' | 'changed' | 'renamed' | 'swapped';
  /** The name that it had before; only if it was renamed or swapped. */
  readonly was?: string;
}

/** How a gateway compares what its servers offer with a lock file. */
export interface PinOptions {
  /** The path of the lock file. It is made if it does not exist. */
  readonly file: string;
  /**
   * `quarantine`: what was changed, added or renamed cannot be seen or used until it is accepted. `report`: it is reported only.
   * Default: `quarantine`.
   */
  readonly mode?: 'quarantine' | 'report';
  /**
   * The treatment of a server that the lock file lacks. `record`: it is added, and trusted. `quarantine`: nothing of it can be used.
   * Default: `record`.
   */
  readonly newServers?: 'record' | 'quarantine';
  /** Called with every difference, once. Default: only the log tells. */
  readonly onChange?: (change: PinChange) => void;
}

/** The options of pins. A misspelled `newServers` would trust every server. */
export const pinTable: OptionTable<PinOptions> = {
  file: { is: 'string', required: true },
  mode: { oneOf: ['quarantine', 'report'], default: 'quarantine' },
  newServers: { oneOf: ['record', 'quarantine'], default: 'record' },
  onChange: 'function',
};
