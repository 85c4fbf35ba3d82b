// Runs saved requests against a connected server, one after another, and compares what comes back with what is expected.

import type { Client } from '../../client/model/client.js';
import type { Progress } from '../../client/model/options.js';
import type { JsonObject } from '../../jsonrpc/message.js';
import { canonical } from '../../protocol/canonical.js';
import { cleanLine } from '../clean.js';
import {
  failedOutcome,
  promptOutcome,
  type RequestOutcome,
  type RequestProblem,
  resourceOutcome,
  toolOutcome,
  unmet,
} from './expectations.js';
import { type GivenAnswers, UnansweredError } from './given-answers.js';
import type { RequestValues } from './request-values.js';
import { definitionChanges, type ListedDefinitions, listDefinitions } from './saved-definitions.js';
import {
  KINDS,
  type RequestKind,
  RequestsError,
  type SavedRequest,
  type SavedRequests,
  subjectOf,
  withDefinition,
  withRequest,
} from './saved-request.js';

/** The report of a request, or of a definition that requests use. */
export interface RequestReport {
  readonly what: 'request' | RequestKind;
  /** The name of the request, or the name or URI of the definition. */
  readonly name: string;
  readonly ms: number;
  /** Empty if everything is as expected. */
  readonly problems: readonly RequestProblem[];
  /** The reason why it was not sent. */
  readonly skipped?: string;
}

export interface RunOptions {
  readonly values: RequestValues;
  readonly signal: AbortSignal;
  /** Called before a request is sent. */
  readonly onStart?: (name: string) => void;
}

/** The server that requests are sent to. */
export interface RequestPeer {
  /** The definitions of these kinds. */
  readonly list: (kinds: ReadonlySet<RequestKind>) => Promise<ListedDefinitions>;
  /** Sends a request whose variables have been replaced; `saved` is the request as the file has it. */
  readonly send: (request: SavedRequest, saved: SavedRequest) => Promise<RequestOutcome>;
}

export interface ClientPeerOptions {
  readonly answers: GivenAnswers;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** The server of a client whose handlers are those of `answers`. */
export function clientPeer(client: Client, { answers, signal, onProgress }: ClientPeerOptions): RequestPeer {
  async function send(request: SavedRequest, until: AbortSignal): Promise<RequestOutcome> {
    const { kind, subject } = subjectOf(request);
    const options = { signal: until, ...(onProgress && { onProgress }) };
    const args = request.arguments ?? {};
    switch (kind) {
      case 'tool':
        return toolOutcome(await client.callTool(subject, args, options));
      case 'resource':
        return resourceOutcome(await client.readResource(subject, options));
      case 'prompt':
        return promptOutcome(await client.getPrompt(subject, args as Record<string, string>, options));
    }
  }
  return {
    list: (kinds) => listDefinitions(client, { kinds, signal }),
    send: (request) => answers.during({ answers: request.answers, signal }, (until) => send(request, until)),
  };
}

/** After these, nothing more can be sent. */
const FATAL: ReadonlySet<string> = new Set([
  'connect_failed',
  'connection_closed',
  'unauthorized',
  'unsupported_version',
]);
/** A larger value does not belong in a file that people read. */
const MAX_KEPT = 200_000;

/** Runs requests, and remembers what came back so that the file can be brought up to date. */
export class RequestRun {
  readonly #file: SavedRequests;
  readonly #requests: readonly SavedRequest[];
  readonly #options: RunOptions;
  /** By the names of the requests. */
  readonly #outcomes = new Map<string, RequestOutcome>();
  #listed: ListedDefinitions | undefined;

  /** `only` are the names of the requests to run; without it, all of them. */
  constructor(
    file: SavedRequests,
    { only, ...options }: RunOptions & { readonly only?: ReadonlySet<string> | undefined },
  ) {
    this.#file = file;
    this.#requests = only === undefined ? file.requests : file.requests.filter(({ name }) => only.has(name));
    this.#options = options;
  }

  /** Throws if a variable is not listed or not set, before anything is sent. */
  check(): void {
    for (const request of this.#requests) this.#expanded(request);
  }

  /** Yields a report for each definition that the file knows, then for each request. */
  async *run(peer: RequestPeer): AsyncGenerator<RequestReport> {
    const expanded = this.#requests.map((request) => this.#expanded(request));
    const kinds = new Set(this.#requests.map((request) => subjectOf(request).kind));
    this.#listed = await peer.list(kinds);
    this.#options.values.learnFrom([...this.#listed.tools.values()]);
    yield* this.#definitions(this.#file);
    let lost: string | undefined;
    for (const [at, request] of this.#requests.entries()) {
      const { name } = request;
      if (lost !== undefined) {
        yield { what: 'request', name, ms: 0, problems: [], skipped: `It was not sent: ${lost}` };
        continue;
      }
      this.#options.onStart?.(name);
      const started = performance.now();
      const outcome = await this.#outcome(peer, expanded[at] as SavedRequest, request);
      const ms = Math.round(performance.now() - started);
      if ('problem' in outcome) {
        yield { what: 'request', name, ms, problems: [outcome.problem] };
        continue;
      }
      this.#outcomes.set(name, outcome);
      if (!outcome.ok && FATAL.has(outcome.code))
        lost = `the server cannot be reached any more (${outcome.code}).`;
      yield { what: 'request', name, ms, problems: this.#problems(expanded[at] as SavedRequest, outcome) };
    }
  }

  /**
   * The file with what came back in the place of what was expected: each `equal` that differs, and the definitions of all requests that
   * ran. Everything else that was expected is the word of a person, and stays.
   */
  updated(file: SavedRequests): SavedRequests {
    let next = file;
    for (const request of this.#requests) {
      const kept = this.#updatedRequest(request);
      if (kept !== request) next = withRequest(next, kept);
      const { kind, subject } = subjectOf(request);
      const definition = this.#definition(request);
      if (definition) next = withDefinition(next, KINDS[kind], [subject, definition]);
    }
    return next;
  }

  /** The requests that ran, compared once more with another version of the file. */
  *compared(file: SavedRequests): Generator<RequestReport> {
    yield* this.#definitions(file);
    for (const request of file.requests) {
      const outcome = this.#outcomes.get(request.name);
      if (outcome === undefined) continue;
      yield {
        what: 'request',
        name: request.name,
        ms: 0,
        problems: this.#problems(this.#expanded(request), outcome),
      };
    }
  }

  /** The definitions that the server lists and the file does not have, as `tool greet`. */
  get unknown(): readonly string[] {
    const names = this.#requests
      .filter((request) => {
        const { kind, subject } = subjectOf(request);
        return (
          this.#definition(request) && !Object.hasOwn(this.#file.definitions?.[KINDS[kind]] ?? {}, subject)
        );
      })
      .map((request) => `${subjectOf(request).kind} ${subjectOf(request).subject}`);
    return [...new Set(names)];
  }

  /** The definition that a request uses, as the server lists it; with the names of variables in the place of their values. */
  #definition(request: SavedRequest): JsonObject | undefined {
    const { kind, subject } = subjectOf(request);
    const listed = this.#listed?.[KINDS[kind]].get(subject);
    return listed && this.#options.values.plain(listed);
  }

  *#definitions(file: SavedRequests): Generator<RequestReport> {
    const seen = new Set<string>();
    for (const request of this.#requests) {
      const { kind, subject } = subjectOf(request);
      const was = file.definitions?.[KINDS[kind]];
      if (was === undefined || !Object.hasOwn(was, subject) || seen.has(canonical([kind, subject]))) continue;
      seen.add(canonical([kind, subject]));
      const problems = definitionChanges(kind, was[subject] as JsonObject, this.#definition(request));
      yield { what: kind, name: subject, ms: 0, problems };
    }
  }

  #expanded(request: SavedRequest): SavedRequest {
    const { values } = this.#options;
    const { name, ...rest } = request;
    return { name, ...values.expand(rest, `The request ${JSON.stringify(cleanLine(name, 100))}`) };
  }

  async #outcome(
    peer: RequestPeer,
    request: SavedRequest,
    saved: SavedRequest,
  ): Promise<RequestOutcome | { problem: RequestProblem }> {
    try {
      return await peer.send(request, saved);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (error instanceof UnansweredError)
        return { problem: { kind: 'question', says: this.#options.values.shown(error.message) } };
      return failedOutcome(error);
    }
  }

  #problems(request: SavedRequest, outcome: RequestOutcome): readonly RequestProblem[] {
    try {
      return unmet(request.expect ?? {}, outcome, this.#options.values);
    } catch (error) {
      if (error instanceof RequestsError) return [{ kind: 'value', says: error.message }];
      throw error;
    }
  }

  #updatedRequest(request: SavedRequest): SavedRequest {
    const { expect } = request;
    const outcome = this.#outcomes.get(request.name);
    if (expect?.equal === undefined || outcome === undefined || !outcome.ok) return request;
    if (this.#problems(this.#expanded(request), outcome).length === 0) return request;
    const value =
      typeof expect.equal === 'string' && typeof outcome.value !== 'string' ? outcome.text : outcome.value;
    return { ...request, expect: { ...expect, equal: keptValue(value, request.name, this.#options.values) } };
  }
}

/** A result as a file keeps it. Throws if the result is too large for one. */
function keptValue(value: unknown, name: string, values: RequestValues): unknown {
  const kept = values.written(value);
  if ((JSON.stringify(kept) ?? '').length <= MAX_KEPT) return kept;
  throw new RequestsError(
    `The result of ${JSON.stringify(cleanLine(name, 100))} is too large to be kept. Expect a part of it with "contains", or its form with "matches".`,
  );
}
