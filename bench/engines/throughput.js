// Tasks, steps and questions per second on each engine, with one replica and with three.
import { startReplica } from '../child.js';
import { askQuestions } from './questions.js';

/** The tasks that each replica runs side by side. */
const WINDOW = 32;
/** The steps of a task whose steps are counted: enough for the beginning and the end of the task not to matter. */
const STEPS = 20;
const REPLICAS = 3;

/**
 * Measures one engine once.
 * @param {import('./start.js').Engine} engine
 * @param {{ roundMs: number }} options
 * @returns {Promise<Record<string, number>>} Figures by name, such as `tasks x1`.
 */
export async function measureThroughput(engine, { roundMs }) {
  /** @type {Record<string, number>} */
  const figures = {};
  const replicas = [];
  for (const count of engine.isShared ? [1, REPLICAS] : [1]) {
    while (replicas.length < count) replicas.push(await startReplica({ env: engine.env }));
    // Loads code, fills caches, and lets the engine prepare its statements.
    await runTasks(replicas, { steps: 1, ms: roundMs / 4 });
    await askQuestions(replicas.slice(0, 1), { ms: roundMs / 4 });
    const measured = async (kind, run) => {
      const before = engine.cpuMs();
      const { number, ms, cpuMs } = await run();
      figures[`${kind} x${count}`] = (number / ms) * 1000;
      figures[`${kind} x${count} replica CPU`] = cpuMs / number;
      figures[`${kind} x${count} engine CPU`] = (engine.cpuMs() - before) / number;
    };
    await measured('tasks', () => runTasks(replicas, { steps: 0, ms: roundMs }));
    await measured('steps', () => runTasks(replicas, { steps: STEPS, ms: roundMs }));
    // Processes that share a folder and nothing else do not share the questions of sessions.
    if (count === 1 || engine.env['MCP_CLUSTER_URL'] !== undefined)
      await measured('questions', () => askQuestions(replicas, { ms: roundMs }));
  }
  await Promise.all(replicas.map((replica) => replica.stop()));
  return figures;
}

async function runTasks(replicas, { steps, ms }) {
  const results = await Promise.all(
    replicas.map((replica) => replica.ask({ what: 'tasks', steps, window: WINDOW, ms })),
  );
  const sum = (figure) => results.reduce((total, result) => total + result[figure], 0);
  return {
    number: sum(steps === 0 ? 'tasks' : 'steps'),
    ms: Math.max(...results.map((result) => result.ms)),
    cpuMs: sum('cpuMs'),
  };
}
