// Finds circles in a graph, such as that of imports.

/**
 * One shortest circle for each set of nodes that all reach each other.
 * @param {Map<string, Set<string>>} graph
 * @returns {string[][]}
 */
export function circlesOf(graph) {
  /** @type {Set<string>} */
  const reported = new Set();
  return [...graph.keys()].sort().flatMap((start) => {
    if (reported.has(start)) return [];
    /** @type {Map<string, string>} */
    const before = new Map();
    const queue = [start];
    for (const node of queue) {
      for (const next of graph.get(node) ?? []) {
        if (next === start) {
          const circle = [start];
          for (let at = node; at !== start; at = /** @type {string} */ (before.get(at))) circle.unshift(at);
          circle.unshift(start);
          for (const one of circle) reported.add(one);
          return [circle];
        }
        if (!before.has(next)) {
          before.set(next, node);
          queue.push(next);
        }
      }
    }
    return [];
  });
}
