// How a measured client works: so many calls, so many of them under way at once.

/**
 * @param {() => Promise<unknown>} once Makes a call and gives the text of its answer.
 * @returns {(question: { calls: number, window: number }) => Promise<{ wall: number, cpu: number }>} Microseconds a call takes.
 */
export function load(once) {
  return async function run({ calls, window }) {
    const text = await once();
    if (typeof text !== 'string' || text === '') throw new Error('The call was not answered');
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
