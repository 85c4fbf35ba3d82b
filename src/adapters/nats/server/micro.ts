// Answers the questions of NATS' service convention: who is there, what it offers, and how it fares.

import { modernRevisions } from '../../../protocol/tables/features.js';
import type { NatsClient } from '../connection/client.js';
import type { NatsSubscription } from '../connection/nats-types.js';
import {
  META_NODE,
  META_REVISIONS,
  META_STARTED,
  META_TITLE,
  META_TOOLS,
  META_VERSION,
  TYPES,
} from '../link/micro.js';
import { type LinkSubjects, QUEUE } from '../link/subjects.js';
import type { RequestStats } from './request-stats.js';

export interface MicroParts {
  readonly client: NatsClient;
  readonly id: string;
  readonly subjects: LinkSubjects;
  readonly version: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly node: string;
  readonly startedAt: string;
  readonly stats: RequestStats;
  readonly tools: () => Promise<readonly string[]>;
}

const SEMVER = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
/** Tools beyond this many characters are left out of the description. */
const MAX_TOOLS_LENGTH = 64 * 1024;
const ENDPOINT = 'mcp';

type Verb = keyof typeof TYPES;

/** Subscribes to the questions. Returns the subscriptions. */
export function answerMicro(parts: MicroParts): readonly NatsSubscription[] {
  const { client, id, subjects } = parts;
  const { service } = subjects;
  return (['PING', 'INFO', 'STATS'] as const).flatMap((verb) =>
    ['', `.${service}`, `.${service}.${id}`].map((suffix) =>
      client.nc.subscribe(`$SRV.${verb}${suffix}`, {
        callback(error, { reply }) {
          if (error !== null || !reply) return;
          void describe(verb, parts).then((body) => {
            if (client.isUp) client.nc.publish(reply, JSON.stringify(body));
          });
        },
      }),
    ),
  );
}

async function describe(verb: Verb, parts: MicroParts): Promise<object> {
  const { id, subjects, stats } = parts;
  const identity = {
    type: TYPES[verb],
    name: subjects.service,
    id,
    version: SEMVER.test(parts.version) ? parts.version : '0.0.0',
    metadata: metadataOf(parts),
  };
  const endpoint = { name: ENDPOINT, subject: subjects.requests, queue_group: QUEUE };
  switch (verb) {
    case 'PING':
      return identity;
    case 'INFO':
      return {
        ...identity,
        description: parts.description,
        endpoints: [
          { ...endpoint, metadata: { [META_TOOLS]: printTools(await parts.tools().catch(() => [])) } },
        ],
      };
    case 'STATS':
      return { ...identity, started: parts.startedAt, endpoints: [{ ...endpoint, ...stats.counts() }] };
    default:
      return verb satisfies never;
  }
}

function metadataOf({ version, title, node, startedAt }: MicroParts): Readonly<Record<string, string>> {
  return {
    [META_REVISIONS]: modernRevisions.join(','),
    [META_VERSION]: version,
    [META_NODE]: node,
    [META_STARTED]: startedAt,
    ...(title !== undefined && { [META_TITLE]: title }),
  };
}

/** A JSON array in a string: the convention allows only strings. */
function printTools(names: readonly string[]): string {
  const fitting: string[] = [];
  let length = 2;
  for (const name of names) {
    length += name.length + 3;
    if (length > MAX_TOOLS_LENGTH) break;
    fitting.push(name);
  }
  return JSON.stringify(fitting);
}
