import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

type Model = (prompt: string) => Promise<string>;

/** A server without deprecated parts of the protocol. */
export function withoutDeprecated(model: Model, folders: Readonly<Record<string, number>>) {
  // #region model
  /** Asks a provider through its own API, where `ctx.sample` asked the client. */
  const title = tool({
    description: 'Suggests a title for an article',
    input: z.object({ article: z.string() }),
    run: ({ article }) => model(`Suggest a title for this article:\n\n${article}`),
  });
  // #endregion

  // #region folders
  /** Takes a folder as an argument, one of those that the server allows, where `ctx.roots` asked the client. */
  const count = tool({
    description: 'Counts the files of a folder',
    input: z.object({ folder: z.enum(Object.keys(folders) as [string, ...string[]]) }),
    run: ({ folder }) => folders[folder] ?? 0,
  });
  // #endregion

  return createServer({ name: 'modern', version: '1.0.0', deprecations: 'error', tools: { title, count } });
}
