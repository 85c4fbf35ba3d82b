import { fileURLToPath } from 'node:url';
import { serveNode } from 'fullmcp/node';
import { describe, expect, test } from 'vitest';
import demo from '../../../examples/demo/server.js';
import type { OpenedTarget } from '../../../src/inspector/contract/options.js';
import type { Revision } from '../../../src/protocol/tables/revisions.js';
import { rig } from './rig.js';
