// Loads the packages of NATS, which are installed only where they are used.

import { createRequire } from 'node:module';
import type { JetStreamPackage, NatsTransport } from './nats-types.js';

const require = createRequire(import.meta.url);

/** Loads the client of NATS. Throws an error with the name of the package to install. */
export function loadTransport(): NatsTransport {
  return load('@nats-io/transport-node', 'NATS') as NatsTransport;
}

/** Loads the client of JetStream. Throws an error with the name of the package to install. */
export function loadJetStream(): JetStreamPackage {
  return load('@nats-io/jetstream', 'The event log on NATS') as JetStreamPackage;
}

function load(name: string, user: string): unknown {
  try {
    return require(name);
  } catch (error) {
    throw new Error(`${user} needs the package "${name}". Install it: npm install ${name}`, { cause: error });
  }
}
