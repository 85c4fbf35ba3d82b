// The file that `fullmcp` starts. It imports only the check of the version: a static import of a later part would be resolved before any line
// runs, and fail on an old Node with a message that nobody understands.

import { checkRuntime } from '../protocol/checks/runtime.js';

await main();

async function main(): Promise<void> {
  const { process } = globalThis;
  try {
    checkRuntime();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
    return;
  }
  const { runProgram } = await import('./program.js');
  await runProgram();
}
