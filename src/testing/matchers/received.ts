// Looks for notifications that a test client has received.

import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import type { ReceivedNotification } from '../test-client/received-record.js';
import type { TestClient } from '../test-client/test-client.js';
import type { Equals } from './content.js';

/** The time that an expected notification may take. */
const WAIT_MS = 1000;
const MAX_LISTED = 20;

// The real ones, even if a test replaces the timers.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/** The notification to look for. */
export interface Wanted {
  readonly method: string;
  readonly params: Readonly<JsonObject> | undefined;
}

/** The method with its prefix, which may be left out. */
export function fullMethod(method: string): string {
  return method.startsWith('notifications/') ? method : `notifications/${method}`;
}

/** The client of `testClient` that a matcher was given. */
export function toTestClient(value: unknown, matcher: string): TestClient {
  if (isTestClient(value)) return value;
  throw new TypeError(`${matcher} needs a client that testClient, everyWire or clientFixture has made.`);
}

// The members of a test client are not its own: it is made from the client.
function isTestClient(value: unknown): value is TestClient {
  const { received, settled } = (value ?? {}) as Partial<TestClient>;
  return Array.isArray(received) && typeof settled === 'function';
}

/**
 * Whether the client has received a notification. An unwanted one is looked for when everything that the server had sent has arrived;
 * a wanted one may also take a moment longer.
 */
export async function hasReceived(
  client: TestClient,
  wanted: Wanted,
  { equals, isWanted }: { readonly equals: Equals; readonly isWanted: boolean },
): Promise<boolean> {
  const found = (): boolean => client.received.some((one) => matches(one, wanted, equals));
  if (found()) return true;
  await client.settled();
  if (found() || !isWanted) return found();
  return new Promise((resolve) => {
    const end = (): void => {
      stopTimer(timer);
      for (const forget of forgets) forget();
      resolve(found());
    };
    const check = (): void => {
      if (found()) end();
    };
    const timer = startTimer(end, WAIT_MS);
    const forgets = [client.on('notification', check), client.on('log', check), client.on('status', check)];
  });
}

function matches({ method, params }: ReceivedNotification, wanted: Wanted, equals: Equals): boolean {
  return (
    method === wanted.method &&
    Object.entries(wanted.params ?? {}).every(([name, value]) => equals(params?.[name], value))
  );
}

/** Describes the notifications that were received, the latest of many. */
export function describeReceived({ received }: TestClient): string {
  if (received.length === 0) return 'nothing was received';
  const skipped = Math.max(0, received.length - MAX_LISTED);
  const lines = received.slice(skipped).map(describe);
  return `received ${skipped > 0 ? `${received.length}, the latest ${MAX_LISTED} of them ` : ''}[${lines.join(', ')}]`;
}

export function describe({ method, params }: Wanted): string {
  const hasParams = isObject(params) && Object.keys(params).length > 0;
  return shorten(hasParams ? `${method} ${JSON.stringify(params)}` : method, 200);
}
