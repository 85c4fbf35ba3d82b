import { generateText, stepCountIs } from 'ai';
import { connect } from 'fullmcp/client';
import { toTools } from 'fullmcp/tools';

/**
 * Answers a question with the tools of an MCP server.
 *
 * @param {import('ai').LanguageModel} model Such as `anthropic('…')` of @ai-sdk/anthropic.
 * @param {import('fullmcp/client').Target} target The server: a URL, './server.js', or one in this process.
 * @param {string} question
 */
export async function answer(model, target, question) {
  const client = await connect(target);
  try {
    const { tools } = await toTools(client, 'ai-sdk');
    const { text } = await generateText({ model, tools, prompt: question, stopWhen: stepCountIs(10) });
    return text;
  } finally {
    await client.close();
  }
}
