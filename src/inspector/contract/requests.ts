// The requests that the project keeps, as the page sees them.

import type { JsonObject } from '../../jsonrpc/message.js';
import type { RequestProblem } from '../../tooling/requests/expectations.js';
import type { Expectation, RequestKind } from '../../tooling/requests/saved-request.js';

export interface RequestsView {
  /** The name of the file. */
  readonly file: string;
  /** The variables whose values are sent. */
  readonly env: readonly string[];
  readonly requests: readonly RequestView[];
  /** Why the file cannot be used. */
  readonly problem?: string;
}

export interface RequestView {
  readonly name: string;
  readonly kind: RequestKind;
  /** The name of the tool or prompt, or the URI. */
  readonly subject: string;
  /** The arguments, with the names of variables. */
  readonly args?: JsonObject;
  readonly expect: Expectation;
}

/** The report of a request, or of a definition that requests use. */
export interface RequestReportView {
  readonly what: 'request' | RequestKind;
  readonly name: string;
  readonly ms: number;
  readonly problems: readonly RequestProblem[];
  readonly skipped?: string;
  /** The story of the call. */
  readonly story?: number;
}
