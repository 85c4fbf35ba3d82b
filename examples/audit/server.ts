import process from 'node:process';
import { createServer, tool } from 'fullmcp';
import { audit } from 'fullmcp/middleware';
import { auditFile } from 'fullmcp/node';
import { z } from 'zod';

const { AUDIT_PATH = 'audit.jsonl', AUDIT_SECRET } = process.env;

export const server = createServer({
  name: 'bank',
  version: '1.0.0',
  use: [
    // Before other middleware, so that it also records the calls that they refuse.
    audit({
      to: auditFile({ path: AUDIT_PATH, secret: AUDIT_SECRET }),
      redact: ['iban'],
    }),
  ],
  tools: {
    pay: tool({
      input: z.object({ iban: z.string(), amount: z.number().positive() }),
      run: ({ amount }) => `Paid ${amount}`,
    }),
  },
});
