/** Reports the memory use of this process to the parent, four times a second, and the address it listens on. */
export function reportMemory(facts) {
  const base = process.memoryUsage().rss;
  const tell = () => {
    if (process.connected) process.send({ ...facts, base, rss: process.memoryUsage().rss });
  };
  tell();
  setInterval(tell, 250).unref();
  process.on('disconnect', () => process.exit(0));
}
