// Loaded before a measured program, so that any program can be asked for its CPU time and its live heap.
process.on('message', ({ what }) => process.send?.(what === 'cpu' ? process.cpuUsage() : liveHeap()));
process.on('disconnect', () => process.exit());

function liveHeap() {
  const collect = globalThis.gc ?? globalThis.Bun?.gc;
  for (let pass = 0; pass < 3; pass++) collect?.(true);
  return process.memoryUsage().heapUsed;
}
