import { MCPTool } from 'mcp-framework';
import { z } from 'zod';

export default class EchoTool extends MCPTool {
  name = 'echo';
  description = 'Returns its text';
  schema = z.object({ text: z.string().describe('The text') });

  async execute({ text }) {
    return text;
  }
}
