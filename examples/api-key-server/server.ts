import { createServer, tool } from 'fullmcp';
import { z } from 'zod';

const visitors: string[] = [];

export const server = createServer({
  name: 'office',
  version: '1.0.0',
  tools: {
    // Open to everyone, with or without a key.
    opening_hours: tool({
      description: 'When the office is open',
      run: () => 'Monday to Friday, 9:00 to 17:00',
    }),
    // For keys with these scopes only. Other callers do not see the tools.
    list_visitors: tool({
      description: 'The visitors of today',
      scopes: ['visitors:read'],
      run: () => visitors.join(', ') || 'Nobody',
    }),
    add_visitor: tool({
      description: 'Announce a visitor',
      scopes: ['visitors:write'],
      input: z.object({ name: z.string() }),
      run({ name }, { auth }) {
        visitors.push(name);
        return `${name} was announced by ${auth?.subject}`;
      },
    }),
  },
});
