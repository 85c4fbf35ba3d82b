// The sections of the place "Server", each with a line that says what is in it.

import type { AuthView, CatalogView, ConnectionView } from '../../../src/inspector/contract/connection.js';
import type { LogLine } from '../../../src/inspector/contract/message.js';
import type { Story } from '../../../src/inspector/contract/story.js';
import { counted, duration } from '../../parts/values/format.js';
import { expiry } from './auth/auth-words.js';
import { latencyOf, timesOf } from './latency.js';

export const SECTIONS = ['overview', 'auth', 'logs', 'latency', 'tokens', 'findings', 'settings'] as const;
export type SectionName = (typeof SECTIONS)[number];

export const TITLES: Readonly<Record<SectionName, string>> = {
  overview: 'Overview',
  auth: 'Authorization',
  logs: 'Logs',
  latency: 'Latency',
  tokens: 'Tokens',
  findings: 'Findings',
  settings: 'Settings',
};

export interface SectionFacts {
  readonly connection: ConnectionView;
  readonly catalog: CatalogView | undefined;
  readonly logs: readonly LogLine[];
  readonly stories: readonly Story[];
  readonly now: number;
}

export const isSection = (name: string | undefined): name is SectionName =>
  SECTIONS.some((each) => each === name);

/** As in `2 errors, 1 warning`. */
export function summaryOf(name: SectionName, facts: SectionFacts): string {
  const { connection, catalog, logs, stories, now } = facts;
  switch (name) {
    case 'overview':
      return [connection.revision, connection.transport].filter(Boolean).join(', ') || connection.status;
    case 'auth':
      return authSummary(connection.auth, now);
    case 'logs':
      return logs.length === 0 ? 'nothing yet' : logSummary(logs);
    case 'latency': {
      const latency = latencyOf(timesOf(stories));
      return latency === undefined
        ? 'no calls yet'
        : `${counted(latency.count, 'call')}, median ${duration(latency.median)}`;
    }
    case 'tokens':
      return catalog === undefined
        ? 'not listed yet'
        : `about ${catalog.tokens.toLocaleString('en')} in ${counted(catalog.tools.length, 'tool')}`;
    case 'findings':
      return catalog === undefined ? 'not listed yet' : findingSummary(catalog);
    case 'settings':
      return 'theme, keys, history';
  }
}

function authSummary({ state, token }: AuthView, now: number): string {
  if (state === 'logged-in')
    return token?.expiresAt === undefined ? 'logged in' : `logged in ${expiry(token.expiresAt, now)}`;
  const words = {
    none: 'no token needed',
    token: 'your token',
    needed: 'needed',
    'logging-in': 'waiting for you',
  };
  return state === 'failed' ? 'failed' : words[state];
}

function logSummary(logs: readonly LogLine[]): string {
  const problems = logs.filter(({ source }) => source === 'problem').length;
  return `${counted(logs.length, 'line')}${problems > 0 ? `, ${counted(problems, 'problem')}` : ''}`;
}

function findingSummary({ findings }: CatalogView): string {
  const count = (severity: string): number => findings.filter((each) => each.severity === severity).length;
  const parts = [
    [count('error'), 'error', 'errors'],
    [count('warning'), 'warning', 'warnings'],
    [count('advice'), 'piece of advice', 'pieces of advice'],
  ] as const;
  const words = parts
    .filter(([number]) => number > 0)
    .map(([number, one, many]) => counted(number, one, many));
  return words.length === 0 ? 'nothing to improve' : words.join(', ');
}
