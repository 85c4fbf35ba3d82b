// The reports of a measured process to its parent: the CPU time used, the size of the live heap, the duration of work.

/**
 * @param {number} port
 * @param {Record<string, (question: object) => unknown>} [more]
 */
export function answerParent(port, more = {}) {
  const answers = {
    cpu: () => process.cpuUsage(),
    heap: () => {
      for (let pass = 0; pass < 3; pass++) globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    },
    ...more,
  };
  process.on('message', async (question) => process.send?.(await answers[question.what](question)));
  process.on('disconnect', () => process.exit());
  process.send?.({ port });
}
