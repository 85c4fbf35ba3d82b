// Loads the packages of NATS, which are installed only where they are used.

import { explainImport, exportsOf } from '../../../protocol/checks/optional-package.js';
import type { JetStreamPackage, NatsTransport } from './nats-types.js';

/** Loads the client of NATS. Rejects with an error that has the name of the package to install. */
export async function loadTransport(): Promise<NatsTransport> {
  const name = '@nats-io/transport-node';
  try {
    return exportsOf<NatsTransport>(
      await import(/* webpackIgnore: true */ '@nats-io/transport-node' as string),
      'connect',
    );
  } catch (error) {
    throw explainImport(error, { user: 'NATS', name });
  }
}

/** Loads the client of JetStream. Rejects with an error that has the name of the package to install. */
export async function loadJetStream(): Promise<JetStreamPackage> {
  const name = '@nats-io/jetstream';
  try {
    return exportsOf<JetStreamPackage>(
      await import(/* webpackIgnore: true */ '@nats-io/jetstream' as string),
      'jetstream',
    );
  } catch (error) {
    throw explainImport(error, { user: 'The event log on NATS', name });
  }
}
