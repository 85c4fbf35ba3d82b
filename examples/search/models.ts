import type { Client } from 'fullmcp/client';
import { toolSearch, toTools } from 'fullmcp/tools';

// #region host
export async function findTools(client: Client, question: string): Promise<string[]> {
  const search = await toolSearch(client, { always: ['help'] });
  // search.tools: search_tools, call_tool and help. Give them to the model, and make its calls with search.call.
  const found = await search.search(question);
  return found.map(({ tool }) => tool.name);
}
// #endregion

/** The part of a model's API that the example uses. */
export interface Model {
  create(request: { tools: object[]; messages: object[] }): Promise<{
    content: (
      | { type: 'text'; text: string }
      | { type: 'tool_use'; id: string; name: string; input: unknown }
    )[];
  }>;
}

// #region loop
export async function ask(client: Client, model: Model, question: string): Promise<string> {
  const { tools, run } = await toTools(client, 'anthropic');
  const messages: object[] = [{ role: 'user', content: question }];
  for (let round = 0; round < 10; round++) {
    const { content } = await model.create({ tools, messages });
    const uses = content.filter((block) => block.type === 'tool_use');
    if (uses.length === 0) return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const results = await Promise.all(uses.map((use) => run(use)));
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
  throw new Error('The model did not come to an end.');
}
// #endregion

// #region search
export async function askWithSearch(client: Client): Promise<readonly object[]> {
  const { tools } = await toTools(await toolSearch(client), 'openai');
  return tools; // search_tools and call_tool
}
// #endregion
