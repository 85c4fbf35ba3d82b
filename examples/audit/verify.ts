import process from 'node:process';
import { verifyAuditFile } from 'fullmcp/node';

const { AUDIT_PATH = 'audit.jsonl', AUDIT_SECRET } = process.env;

const report = await verifyAuditFile(AUDIT_PATH, { secret: AUDIT_SECRET });
for (const { line, message } of report.problems) console.error(`${line ?? 'log'}: ${message}`);
console.log(`${report.entries} entries, ${report.problems.length} problems`);
process.exitCode = report.ok ? 0 : 1;
