import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const titles = new Set(['Broken door']);

/** Stands for a database, whose errors are written for programmers. */
function insert(title: string): void {
  if (titles.has(title))
    throw Object.assign(new Error(`UNIQUE constraint failed: issues.title`), { code: 'SQLITE_CONSTRAINT' });
  titles.add(title);
}

// #region errors
export default createServer({
  name: 'guide-errors',
  version: '1.0.0',
  onError: (error, call) => {
    const { code } = error as { code?: unknown };
    if (code === 'SQLITE_CONSTRAINT')
      return new ToolError('There is such an issue already. Choose another title.');
    // Whatever is not mapped is masked and logged as before. This is also the place to count errors.
    console.error(`${call.method} failed for ${call.auth?.subject ?? 'nobody'}`);
    return undefined;
  },
  tools: {
    add_issue: tool({
      input: z.object({ title: z.string() }),
      run: ({ title }) => {
        insert(title);
        return 'Added';
      },
    }),
  },
});
// #endregion
