// The subjects of a service: where its requests go, and how single instances are reached.

import { checkPrefix, checkServiceName } from '../connection/subjects.js';

/** The subjects of one service. */
export interface LinkSubjects {
  readonly service: string;
  /** Requests: one instance of the queue group gets each. */
  readonly requests: string;
  /** Messages for all instances. */
  readonly all: string;
  /** Messages for one instance, by its id. */
  readonly instance: (id: string) => string;
}

/** The queue group of the instances of a service. */
export const QUEUE = 'mcp';

/** The subjects of a service. Throws a TypeError for a name or a prefix that NATS does not accept. */
export function linkSubjects(service: string, prefix: string): LinkSubjects {
  const requests = `${checkPrefix(prefix)}.${checkServiceName(service)}`;
  return { service, requests, all: `${requests}.all`, instance: (id) => `${requests}.instance.${id}` };
}

/** The last part of a subject, and everything before it. */
export function splitSubject(subject: string): { readonly rest: string; readonly last: string } {
  const dot = subject.lastIndexOf('.');
  return { rest: subject.slice(0, dot), last: subject.slice(dot + 1) };
}
