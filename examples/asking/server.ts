import { createServer } from 'fullmcp';
import { deploy, right, wrong } from './deploy.js';
import * as questions from './questions.js';
import { survey } from './raw.js';

const { folders, review, ...tools } = questions;

export default createServer({
  name: 'asking',
  version: '1.0.0',
  secret: process.env['MCP_SECRET'] ?? 'only for the examples: not a secret',
  tools: { ...tools, wrong, right, deploy, survey },
  prompts: { review },
  resources: { 'folders://open': folders },
});
