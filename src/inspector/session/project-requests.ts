// The requests of the project for the page: listed, saved from stories, and run as stories.

import { basename } from 'node:path';
import process from 'node:process';
import { ToolCallResult, toPromptResult, toReadResult } from '../../client/calls/read-results.js';
import { isObject, type JsonObject } from '../../jsonrpc/message.js';
import { tryParseObject } from '../../jsonrpc/try-parse.js';
import type { Outcome } from '../../protocol/call.js';
import { McpError } from '../../protocol/errors.js';
import { lacksSecret, REMOVED } from '../../testing/recording/secrets.js';
import {
  promptOutcome,
  type RequestOutcome,
  resourceOutcome,
  toolOutcome,
} from '../../tooling/requests/expectations.js';
import { formContent } from '../../tooling/requests/given-answers.js';
import { changeRequests, loadRequests } from '../../tooling/requests/request-file.js';
import { RequestValues } from '../../tooling/requests/request-values.js';
import { type RequestPeer, RequestRun } from '../../tooling/requests/run-requests.js';
import { keptFields, type ListedDefinitions } from '../../tooling/requests/saved-definitions.js';
import {
  type Expectation,
  RequestsError,
  type SavedRequest,
  type SavedRequests,
  subjectOf,
  withDefinition,
  withoutRequest,
  withRequest,
} from '../../tooling/requests/saved-request.js';
import type { RequestReportView, RequestsView } from '../contract/requests.js';
import type { StoryEnding, StoryRecord } from '../stories/story-record.js';
import { actionOf, callTool, request } from './actions.js';
import type { InspectedConnection } from './connection/connection.js';

/** A request that the page wants to keep. */
export interface RequestToSave {
  readonly name: string;
  readonly expect: Expectation;
  /** Whether a request of the same name is replaced. */
  readonly replace: boolean;
}

export class ProjectRequests {
  readonly #path: string | undefined;

  /** `path` is the file of the project; without it, there are no requests. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** The name of the file; undefined if this inspector has none. */
  get file(): string | undefined {
    return this.#path === undefined ? undefined : basename(this.#path);
  }

  /** The requests as the file has them now. A file that cannot be used is a problem to show. */
  async view(): Promise<RequestsView> {
    const path = this.#required();
    try {
      return viewOf(basename(path), (await loadRequests(path)).requests);
    } catch (error) {
      if (!(error instanceof RequestsError)) throw error;
      return { file: basename(path), env: [], requests: [], problem: error.message };
    }
  }

  /** Keeps the request of a story that is over. Its secrets become variables. */
  async save(
    story: StoryRecord,
    connection: InspectedConnection,
    wanted: RequestToSave,
  ): Promise<RequestsView> {
    const { name, expect, replace } = wanted;
    const saved = await this.#change((file) => {
      if (!replace && file.requests.some((one) => one.name === name))
        throw new RequestsError(`There is a request ${JSON.stringify(name.slice(0, 100))} already.`);
      const values = new RequestValues(file, process.env);
      const listed = listedOf(connection);
      values.learnFrom([...listed.tools.values()]);
      const variables = new SecretVariables(file.env ?? []);
      const kept = requestOf(story, name, (args) => variables.in(values.written(args), args) as JsonObject);
      const named = new RequestValues({ env: [...variables.names] }, { ...process.env, ...variables.values });
      named.learnFrom([...listed.tools.values()]);
      const written = Object.keys(expect).length === 0 ? {} : { expect: named.written(expect) };
      const { kind, subject } = subjectOf(kept);
      const list = `${kind}s` as const;
      const definition = listed[list].get(subject);
      const next = {
        ...withRequest(file, { ...kept, ...written }),
        ...(variables.names.size > 0 && { env: [...variables.names] }),
      };
      return definition ? withDefinition(next, list, [subject, values.plain(definition)]) : next;
    });
    return saved;
  }

  remove(name: string): Promise<RequestsView> {
    return this.#change((file) => withoutRequest(file, name));
  }

  /** Runs requests as stories, one after another. */
  async run(
    connection: InspectedConnection,
    names: readonly string[],
  ): Promise<readonly RequestReportView[]> {
    const { requests: file } = await loadRequests(this.#required()).catch(forPage);
    const values = new RequestValues(file, process.env);
    for (const name of file.env ?? []) connection.learn(process.env[name] ?? '');
    const stories = new Map<string, number>();
    const options = { values, signal: new AbortController().signal, only: new Set(names) };
    const run = new RequestRun(file, options);
    const reports: RequestReportView[] = [];
    try {
      run.check();
      for await (const report of run.run(peerOf(connection, stories))) {
        const story = report.what === 'request' ? stories.get(report.name) : undefined;
        reports.push({ ...report, ...(story !== undefined && { story }) });
      }
    } catch (error) {
      throw forPageError(error);
    }
    return reports;
  }

  #required(): string {
    if (this.#path !== undefined) return this.#path;
    throw new McpError('forbidden', 'This inspector keeps no requests. To keep some, run: fullmcp inspect');
  }

  async #change(change: (file: SavedRequests) => SavedRequests): Promise<RequestsView> {
    const path = this.#required();
    const { requests } = await changeRequests(path, change).catch(forPage);
    return viewOf(basename(path), requests);
  }
}

function forPage(error: unknown): never {
  throw forPageError(error);
}

function forPageError(error: unknown): unknown {
  return error instanceof RequestsError ? new McpError('invalid_request', error.message) : error;
}

function viewOf(file: string, { env = [], requests }: SavedRequests): RequestsView {
  return {
    file,
    env,
    requests: requests.map((one) => ({
      name: one.name,
      ...subjectOf(one),
      ...(one.arguments && { args: one.arguments }),
      expect: one.expect ?? {},
    })),
  };
}

function requestOf(story: StoryRecord, name: string, kept: (args: JsonObject) => JsonObject): SavedRequest {
  if (!story.isOver) throw new McpError('invalid_request', 'This call is not over yet.');
  const { kind, title, args = {}, questions } = story;
  const given = Object.keys(args).length > 0 ? { arguments: kept(args) } : {};
  const answers = answersOf(
    questions.map(({ asked, answer }) => ({ key: asked.key, kind: asked.kind, answer })),
  );
  const more =
    answers === undefined ? {} : { answers: typeof answers === 'string' ? answers : kept(answers) };
  switch (kind) {
    case 'tool':
      return { name, tool: title, ...given, ...more };
    case 'prompt':
      return { name, prompt: title, ...given, ...more };
    case 'read':
      return { name, resource: title, ...more };
    default:
      throw new McpError('invalid_request', 'Only calls of tools, resources and prompts can be kept.');
  }
}

interface GivenAnswer {
  readonly key: string | undefined;
  readonly kind: string;
  readonly answer: JsonObject | undefined;
}

/** The answers of a story: fields by name, or with the key of their question if two questions have the same one. */
function answersOf(given: readonly GivenAnswer[]): SavedRequest['answers'] {
  const forms = given.filter(({ kind }) => kind === 'form' || kind === 'url');
  const refused = forms.find(({ answer }) => answer?.['action'] !== 'accept')?.answer?.['action'];
  if (refused === 'decline' || refused === 'cancel') return refused;
  const fields = forms.flatMap(({ key, answer }) =>
    Object.entries(isObject(answer?.['content']) ? answer['content'] : {}).map(([name, value]) => ({
      key,
      name,
      value,
    })),
  );
  if (forms.length === 0) return undefined;
  const isRepeated = (name: string): boolean => fields.filter((field) => field.name === name).length > 1;
  return Object.fromEntries(
    fields.map(({ key, name, value }) => [
      key !== undefined && isRepeated(name) ? `${key}.${name}` : name,
      value,
    ]),
  );
}

/** Variables in the place of secrets that were removed from arguments: a file that everybody reads must not have them. */
class SecretVariables {
  readonly names: Set<string>;
  readonly #secrets = new Map<string, string>();

  /** `names` are the variables that the file has already. */
  constructor(names: readonly string[]) {
    this.names = new Set(names);
  }

  /** A value without secrets, with a variable for each of them. `path` has the names of the fields that lead to it. */
  in(written: unknown, value: unknown, path: readonly string[] = []): unknown {
    // The request of a run that was itself started from the file.
    if (typeof value === 'string' && this.names.has(/^\$\{(\w+)\}$/.exec(value)?.[1] ?? '')) return value;
    if (value === REMOVED) return this.#named(variableName(path.slice(-1)));
    if (typeof value === 'string' || typeof value === 'number')
      return lacksSecret(written) && written !== value ? this.#variable(String(value), path) : written;
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const kept = typeof written === 'object' && written !== null ? Object.entries(written) : [];
    // A secret that is an object was removed as a whole, and each of its parts is one.
    const parts = entries.map(([name, inner], at) => {
      const [shown, part] = kept[at] ?? [name, written];
      return [shown, this.in(part, inner, Array.isArray(value) ? path : [...path, name])] as const;
    });
    if (Array.isArray(value)) return parts.map(([, part]) => part);
    return isObject(value) ? Object.fromEntries(parts) : value;
  }

  /** The secrets by the names of their variables. */
  get values(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#secrets);
  }

  /** A variable that is named like the field, or like the way to it if another secret has that name. */
  #variable(secret: string, path: readonly string[]): string {
    const short = variableName(path.slice(-1));
    const long = variableName(path);
    const more = Array.from({ length: MAX_ALIKE }, (_, at) => `${long.slice(0, 95)}_${at + 2}`);
    const name = [short, long, ...more].find((one) => this.#isFor(one, secret)) ?? long;
    this.#secrets.set(name, secret);
    return this.#named(name);
  }

  /** The variable itself. A call of an earlier visit was kept without the secret, so that nothing else is known of it. */
  #named(name: string): string {
    this.names.add(name);
    return `$\{${name}}`;
  }

  #isFor(name: string, secret: string): boolean {
    return (this.#secrets.get(name) ?? process.env[name] ?? secret) === secret;
  }
}

/** Secrets of one request whose fields lead to the same name. */
const MAX_ALIKE = 100;

/** The name of an environment variable for a field, as in `CARD_NUMBER` for `card.number`. */
function variableName(path: readonly string[]): string {
  const name = path
    .join('_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/\W/g, '_')
    .toUpperCase();
  return /^[A-Z_]/.test(name) ? name.slice(0, 100) : `_${name.slice(0, 99)}`;
}

/** The lists that the page shows. */
function listedOf({ catalog }: InspectedConnection): ListedDefinitions {
  const { tools, resources, prompts } = catalog;
  return {
    tools: new Map(tools.map(({ tool }) => [tool.name, keptFields('tools', tool)])),
    resources: new Map(resources.map((one) => [String(one['uri']), keptFields('resources', one)])),
    prompts: new Map(prompts.map((one) => [String(one['name']), keptFields('prompts', one)])),
  };
}

/** Sends requests as stories of a connection. Questions without an answer in the file are asked in the page. */
function peerOf(connection: InspectedConnection, stories: Map<string, number>): RequestPeer {
  return {
    list: async () => listedOf(connection),
    async send(sent, saved) {
      const { kind, subject } = subjectOf(sent);
      const args = sent.arguments ?? {};
      let ending: StoryEnding | undefined;
      let outcome: Outcome | undefined;
      const begun = (): ReturnType<typeof callTool> => {
        if (kind === 'tool')
          return callTool(connection, {
            tool: subject,
            args,
            asTask: false,
            shownArgs: saved.arguments ?? {},
            onStory: (story) => {
              story.answerFor = (question) => answerOf(sent.answers, question);
            },
            onEnding: (end) => {
              ending = end;
            },
          });
        const method = kind === 'prompt' ? 'prompts/get' : 'resources/read';
        const params = kind === 'prompt' ? { name: subject, arguments: args } : { uri: subject };
        const shown =
          kind === 'prompt' ? { name: subject, arguments: saved.arguments ?? {} } : { uri: saved.resource };
        const resolve = (found: Outcome): void => {
          outcome = found;
        };
        return request(connection, actionOf(method, shown), params, { resolve, reject: () => undefined });
      };
      const { story, ended } = begun();
      stories.set(sent.name, story.id);
      await ended;
      const result = outcome ?? tryParseObject(ending?.outcome ?? '');
      const { error } = story.view;
      if (result === undefined || error !== undefined)
        return {
          ok: false,
          code: error?.code ?? 'failed',
          message: error?.message ?? 'The call has no result.',
        };
      return outcomeOf(kind, result as Outcome);
    },
  };
}

function outcomeOf(kind: 'tool' | 'resource' | 'prompt', outcome: Outcome): Promise<RequestOutcome> {
  switch (kind) {
    case 'tool':
      return toolOutcome(new ToolCallResult(outcome, { name: undefined, id: undefined }, ''));
    case 'resource':
      return resourceOutcome(toReadResult(outcome));
    case 'prompt':
      return promptOutcome(toPromptResult(outcome));
  }
}

function answerOf(
  answers: SavedRequest['answers'],
  { kind, schema, key }: Parameters<NonNullable<StoryRecord['answerFor']>>[0],
): JsonObject | undefined {
  if (answers === undefined || (kind !== 'form' && kind !== 'url')) return undefined;
  if (typeof answers === 'string') return { action: answers };
  if (kind === 'url' || schema === undefined) return undefined;
  const { content, missing } = formContent(answers, schema, key);
  return missing.length === 0 ? { action: 'accept', content } : undefined;
}
