import { afterAll, expect, test } from 'vitest';
import { RELEASES, Rollout } from './rollout.js';

const rollout = new Rollout();

afterAll(() => rollout.close());

test(`no call fails on a stale schema, and no task is lost or ends in the wrong version, in ${RELEASES} rolling deploys`, {
  timeout: 120_000 + RELEASES * 20_000,
}, async () => {
  await rollout.run();
  rollout.check();
  expect.hasAssertions();
});
