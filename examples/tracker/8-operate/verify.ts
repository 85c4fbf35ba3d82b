import process from 'node:process';
import { verifyAuditFile } from 'fullmcp/node';

// Checks that nobody has changed the audit log.

const { AUDIT_PATH = 'audit.jsonl', AUDIT_SECRET } = process.env;
const { entries, problems, ok } = await verifyAuditFile(AUDIT_PATH, { secret: AUDIT_SECRET });
for (const { line, message } of problems) console.error(`Line ${line ?? '?'}: ${message}`);
console.log(`${entries} entries, ${problems.length} problems`);
process.exitCode = ok ? 0 : 1;
