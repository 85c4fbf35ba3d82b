// The work of a measured client: a number of calls, some of them open at the same time.

/**
 * @param {() => Promise<unknown>} once Makes a call and returns the text of its result.
 * @returns {(question: { calls: number, window: number }) => Promise<{ wall: number, cpu: number }>} Microseconds a call takes.
 */
export function load(once) {
  return async function run({ calls, window }) {
    const text = await once();
    if (typeof text !== 'string' || text === '') throw new Error('The call has no text in its result.');
    let left = calls;
    const cpuBefore = process.cpuUsage();
    const from = performance.now();
    await Promise.all(
      Array.from({ length: window }, async () => {
        while (left-- > 0) await once();
      }),
    );
    const wall = ((performance.now() - from) * 1000) / calls;
    const { user, system } = process.cpuUsage(cpuBefore);
    return { wall, cpu: (user + system) / calls };
  };
}
