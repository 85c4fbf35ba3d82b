/** Reports the memory use of this process and the given facts to the parent, four times a second. */
export function reportMemory(facts) {
  const base = process.memoryUsage().rss;
  const report = () => {
    if (process.connected) process.send({ ...facts, base, rss: process.memoryUsage().rss });
  };
  report();
  setInterval(report, 250).unref();
  process.on('disconnect', () => process.exit(0));
}
