import { afterEach, beforeEach, expect } from 'vitest';
import type { Passed } from '../balancer.js';
import type { ReplicaSet, ServerName } from '../replica-set.js';

/**
 * Fails every test of a suite whose requests did not go to one replica after the other: a test that one replica could pass alone
 * shows nothing. `alone` matches the names of tests that consist of a single request.
 */
export function expectSpread(
  replicas: () => ReplicaSet,
  server: ServerName,
  { alone }: { readonly alone?: RegExp } = {},
): void {
  beforeEach(() => replicas().clear());
  afterEach(({ task }) => {
    const passed = replicas().passed(server);
    if (!alone?.test(task.name)) expect(passed.length, 'requests').toBeGreaterThan(1);
    expectTurns(passed);
  });
}

/** Checks that each request went to another replica than the one before, and that all replicas got some. */
export function expectTurns(passed: readonly Passed[]): void {
  expect(new Set(passed.map(({ replica }) => replica)).size, 'replicas').toBe(Math.min(3, passed.length));
  for (const [at, { replica }] of passed.entries())
    expect(replica, `the replica of request ${at}`).not.toBe(passed[at - 1]?.replica);
}
