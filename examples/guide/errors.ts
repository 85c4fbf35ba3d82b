import { createServer, ToolError, tool } from 'fullmcp';
import { z } from 'zod';

const titles = new Set(['Broken door']);

/** Stands in for a database, whose errors are written for programmers. */
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
      return new ToolError('An issue with this title already exists. Choose another title.');
    // Any other error is masked and logged. This is also the place to count errors.
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
