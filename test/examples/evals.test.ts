import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import cases from '../../examples/evals/evals.js';
import withModels from '../../examples/evals/with-models.js';

// #region test
test('models understand the tools, as far as the tapes know', async () => {
  const tapes = fileURLToPath(new URL('../../examples/evals/evals.tapes', import.meta.url));
  const report = await cases.run({ tapes }); // asks no model
  expect(report.models.flatMap(({ cases }) => cases.filter(({ ok }) => !ok))).toEqual([]);
});
// #endregion

test('The tape of the example is fresh, and has every case', async () => {
  const tapes = fileURLToPath(new URL('../../examples/evals/evals.tapes', import.meta.url));
  const [model] = (await cases.run({ tapes })).models;
  expect(model?.cases.map(({ state, passed, of }) => [state, passed, of])).toEqual(
    Array(4).fill(['fresh', 3, 3]),
  );
});

test('The cases with models are well formed, and need keys only to be recorded', async () => {
  expect(withModels.names).toHaveLength(6);
  await expect(withModels.run({ tapes: '/nowhere', record: true, env: {} })).rejects.toThrow(
    'ANTHROPIC_API_KEY',
  );
});
