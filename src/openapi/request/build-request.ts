// Builds the request of an operation from the arguments of a call.

import { isObject } from '../../jsonrpc/message.js';
import { quote } from '../../protocol/encoding/shorten.js';
import { ToolError } from '../../server/results/tool-error.js';
import { hasDotSegment, nameOf } from '../document/operations.js';
import type { Argument } from './arguments.js';
import { type BodyPlan, type PrintedBody, printBody } from './body.js';
import { asQuery, inCookie, inHeader, inPath, inQuery } from './styles.js';

/** The request of an operation, without the arguments of a call. */
export interface RequestPlan {
  readonly method: string;
  /** The method as it is sent. */
  readonly verb: string;
  readonly path: string;
  readonly base: string;
  readonly args: readonly Argument[];
  readonly body: BodyPlan | undefined;
  readonly accept: string;
}

/** A request that credentials can be added to. */
export interface DraftRequest {
  readonly path: string;
  readonly query: string[];
  readonly headers: Map<string, string>;
  readonly cookies: string[];
  readonly body: PrintedBody | undefined;
}

/** Builds the request. Throws a `ToolError` for arguments that would change where it goes, or that cannot be sent. */
export function buildRequest(plan: RequestPlan, given: Readonly<Record<string, unknown>>): DraftRequest {
  const [route = '', fixedQuery] = (plan.path.split('#', 1)[0] ?? '').split('?', 2);
  const query = fixedQuery === undefined ? [] : [fixedQuery];
  const headers = new Map([['accept', plan.accept]]);
  const cookies: string[] = [];
  const variables = new Map<string, string>();
  const fields: [string, unknown][] = [];
  let body: unknown;
  for (const { key, place, name, style } of plan.args) {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (value === undefined) continue;
    if (place === 'path') variables.set(name, inPath(style, value));
    else if (place === 'query') query.push(...inQuery(style, value));
    else if (place === 'querystring') query.push(...asQuery(style, value));
    else if (place === 'header') headers.set(name.toLowerCase(), inHeader(style, value));
    else if (place === 'cookie') cookies.push(...inCookie(style, value));
    else if (place === 'field') fields.push([name, value]);
    else body = value;
  }
  if (plan.body?.isFlat && (fields.length > 0 || plan.body.isRequired)) body = Object.fromEntries(fields);
  return {
    ...{ path: fillPath(route, variables, plan), query, headers, cookies },
    body: plan.body === undefined || body === undefined ? undefined : printBody(plan.body, body),
  };
}

function fillPath(route: string, variables: ReadonlyMap<string, string>, plan: RequestPlan): string {
  const where = nameOf(plan.method, plan.path);
  const path = route.replaceAll(/\{([^{}/]+)\}/g, (_, name: string) => {
    const value = variables.get(name) ?? '';
    // Without it, the path would be that of another operation.
    if (value === '') throw new ToolError(`${where} needs a value for ${quote(name, 60)} that is not empty.`);
    return value;
  });
  if (hasDotSegment(path))
    throw new ToolError(
      `"." and ".." cannot be whole parts of a path, so that ${where} cannot have these arguments.`,
    );
  return path;
}

/** The URL of a request. */
export function urlOf({ base }: RequestPlan, { path, query }: DraftRequest): URL {
  return new URL(`${base}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`);
}

/** The values of a call by the names of its arguments. */
export function valuesOf(input: unknown): Readonly<Record<string, unknown>> {
  return isObject(input) ? input : {};
}
