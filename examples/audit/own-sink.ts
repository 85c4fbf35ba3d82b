import { createServer, tool } from 'fullmcp';
import { type AuditHead, audit, auditChain, verifyAudit } from 'fullmcp/middleware';

const secret = '0123456789abcdef0123456789abcdef';

/** Stands for a database. */
export const table: string[] = [];

// #region sink
// The last entry, which the database keeps, too.
let head: AuditHead | undefined;

const toDatabase = audit({
  async to(entries) {
    // After a failure, the same entries come again: they must continue the chain where the database ends.
    const chain = auditChain({ secret, head });
    const lines = entries.map((entry) => chain.line(entry));
    await insert(lines, chain.head);
    head = chain.head;
  },
});

export const verify = () => verifyAudit(table, { secret, head });
// #endregion

async function insert(lines: readonly string[], _head: AuditHead): Promise<void> {
  table.push(...lines);
}

export const server = createServer({
  name: 'own-sink',
  version: '1.0.0',
  use: [toDatabase],
  tools: { hello: tool({ run: () => 'Hello' }) },
});
