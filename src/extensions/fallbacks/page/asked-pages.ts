// The page that asks a user whose client cannot: a signed link to it, the form, and the answer, which counts once and for its caller alone.

import type { JsonObject } from '../../../jsonrpc/message.js';
import { html } from '../../../oauth/proxy/pages/html.js';
import { pageReply } from '../../../oauth/proxy/pages/page.js';
import type { Auth, Call, Outcome } from '../../../protocol/call.js';
import { principalOf, storableAuth } from '../../../protocol/caller.js';
import { canonical, digestOf } from '../../../protocol/canonical.js';
import { encodeBase64Url } from '../../../protocol/encoding/base64.js';
import {
  deriveSealingKey,
  randomSecret,
  type SealingKey,
  sealBytes,
  unsealBytes,
} from '../../../protocol/encoding/sealing.js';
import { McpError } from '../../../protocol/errors.js';
import { newestRevision } from '../../../protocol/tables/revisions.js';
import { compileSchema } from '../../../schema/compile.js';
import { explainLater } from '../../../schema/explain-later.js';
import type { FallbackPluginParts } from '../../../server/handle/fallback-host.js';
import type { StoreEntry } from '../../../state/store.js';
import { callerGroup } from '../../../state/store-shares.js';
import { fieldsOf, valuesOf } from './form.js';

/** Calls a method of tasks for the caller. */
export type TaskMethod = (call: Call, method: string, params: JsonObject) => Promise<Outcome>;

/** A question of a task. */
export interface PageQuestion {
  readonly id: string;
  readonly key: string;
  readonly request: JsonObject;
}

/** A question that is asked on the page, as the store has it. */
interface AskedRecord {
  readonly id: string;
  readonly key: string;
  readonly digest: string;
  /** The caller whose task it is. */
  readonly auth?: Auth;
  readonly isLocal?: true;
  /** The answer, encrypted, that waits for its code. */
  readonly answer?: string;
  readonly code?: string;
  /** How many codes were tried. */
  readonly attempts?: number;
}

const PURPOSE = 'asking page';
const LINK_MS = 3_600_000;
const MAX_ATTEMPTS = 5;
const MAX_CONFLICTS = 20;
const MAX_BODY = 64 * 1024;
const CODE_DIGITS = 6;
const encoder = new TextEncoder();

/** Asks on the page. A link names an entry of the store, which belongs to one question of one task of one caller. */
export class AskedPages {
  readonly #parts: FallbackPluginParts;
  readonly #ofTask: TaskMethod;
  #keys: Promise<readonly SealingKey[]> | undefined;

  constructor(parts: FallbackPluginParts, ofTask: TaskMethod) {
    this.#parts = parts;
    this.#ofTask = ofTask;
  }

  /** The link to a question. A question that was answered on the page, and waits for its code, keeps its answer. */
  async linkTo(call: Call, question: PageQuestion): Promise<string> {
    const { options, store } = this.#parts;
    const { auth, isLocal } = call;
    const key = await this.#entryKey(call, question);
    const value: AskedRecord = {
      id: question.id,
      key: question.key,
      digest: await digestText(canonical(question.request)),
      ...(auth && { auth: storableAuth(auth) }),
      ...(isLocal && { isLocal }),
    };
    await store.write([{ do: 'put', key, value: { ...value }, if: 'absent', ttlMs: LINK_MS }]);
    const url = new URL(options.page as string);
    url.searchParams.set('q', await this.#seal({ key, e: Date.now() + LINK_MS }));
    return url.href;
  }

  async #entryKey(call: Call, { id, key, request }: PageQuestion): Promise<string> {
    const group = await callerGroup(this.#parts.server, principalOf(call));
    return `asked:${group}:${await digestText(canonical([id, key, request]))}`;
  }

  /** Takes the answer that the page has, if the code is that of the page. */
  async takeAnswer(
    call: Call,
    question: PageQuestion,
    code: string,
  ): Promise<{ readonly response: JsonObject } | { readonly problem: string }> {
    const entry = await this.#countAttempt(await this.#entryKey(call, question));
    if (entry === undefined)
      return {
        problem: 'The page has no answer yet. Show the user the link, and ask for the code afterwards.',
      };
    const { answer = '', code: expected, attempts = 0 } = entry.value as unknown as AskedRecord;
    if (attempts > MAX_ATTEMPTS) {
      await this.#ofTask(call, 'tasks/cancel', { taskId: question.id });
      return { problem: 'The code was wrong too often, so the work was stopped. Tell the user.' };
    }
    if ((await codeDigest(entry.key, code.replaceAll(' ', ''))) !== expected)
      return { problem: 'The code is wrong. Ask the user for the code that the page shows.' };
    const response = await this.#unseal(answer);
    await this.#parts.store.write([{ do: 'delete', key: entry.key }]);
    return response === undefined
      ? { problem: 'The answer has expired. Show the user the link again.' }
      : { response };
  }

  /** Counts an attempt before its code is compared, so that guesses at the same time count, too. Undefined if there is no answer. */
  async #countAttempt(key: string): Promise<StoreEntry | undefined> {
    const { store } = this.#parts;
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const entry = await store.get(key);
      const record = entry?.value as AskedRecord | undefined;
      if (entry === undefined || record?.answer === undefined) return undefined;
      const value = { ...record, attempts: (record.attempts ?? 0) + 1 };
      const { version } = entry;
      if ((await store.write([{ do: 'put', key, value, if: { version } }])).ok) return { ...entry, value };
    }
    throw new McpError('overloaded', 'There are too many answers to this question. Try again later.');
  }

  /** Replies to a browser. */
  async reply(request: Request, auth: Auth | undefined): Promise<Response> {
    const { method } = request;
    if (method !== 'GET' && method !== 'POST')
      return new Response(null, { status: 405, headers: { allow: 'GET, POST' } });
    const link = new URL(request.url).searchParams.get('q') ?? '';
    const opened = await this.#unseal(link);
    const entry =
      typeof opened?.['key'] === 'string' ? await this.#parts.store.get(opened['key']) : undefined;
    if (entry === undefined) return messagePage(GONE, 404);
    const record = entry.value as unknown as AskedRecord;
    const call = this.#callOf(record);
    if (auth !== undefined && principalOf({ auth }) !== principalOf(call))
      return messagePage(OTHER_CALLER, 403);
    const question = await this.#openQuestion(call, record);
    if (question === undefined) return messagePage(GONE, 404);
    if (record.answer !== undefined) return messagePage(ANSWERED, 409);
    if (method === 'GET') return this.#formPage(link, question);
    return this.#takeForm(request, { link, entry, record, call, question, isProved: auth !== undefined });
  }

  /** The question, if the task still asks it as the link was made for it. */
  async #openQuestion(call: Call, { id, key, digest }: AskedRecord): Promise<PageQuestion | undefined> {
    const task = await this.#parts.tasks.details(call, id);
    const requests = (task?.['inputRequests'] ?? {}) as Readonly<Record<string, JsonObject>>;
    const request = Object.hasOwn(requests, key) ? requests[key] : undefined;
    const isSame = request !== undefined && (await digestText(canonical(request))) === digest;
    return isSame ? { id, key, request } : undefined;
  }

  async #takeForm(
    request: Request,
    { link, entry, record, call, question, isProved }: SentForm,
  ): Promise<Response> {
    const sent = new URLSearchParams((await request.text()).slice(0, MAX_BODY));
    const response = await readForm(question, sent);
    if ('problem' in response) return this.#formPage(link, question, String(response['problem']));
    const { store } = this.#parts;
    const condition = { key: entry.key, if: { version: entry.version } };
    if (isProved) {
      const written = await store.write([{ do: 'delete', ...condition }]);
      if (!written.ok) return messagePage(ANSWERED, 409);
      const { id, key } = question;
      await this.#ofTask(call, 'tasks/update', { taskId: id, inputResponses: { [key]: response } });
      return messagePage(TAKEN);
    }
    const code = randomCode();
    const answered = {
      ...record,
      answer: await this.#seal({ ...response, e: Date.now() + LINK_MS }),
      code: await codeDigest(entry.key, code),
    };
    const written = await store.write([{ do: 'put', value: answered, ttlMs: LINK_MS, ...condition }]);
    return written.ok ? codePage(code) : messagePage(ANSWERED, 409);
  }

  #formPage(link: string, { request }: PageQuestion, problem?: string): Promise<Response> {
    const { message, requestedSchema } = request['params'] as JsonObject;
    const title = `${this.#parts.server} asks`;
    return pageReply({
      title,
      status: problem === undefined ? 200 : 400,
      body: html`<h1>${title}</h1>
<p>${String(message)}</p>
${problem !== undefined && html`<p class="warn">${problem}</p>`}
<form method="post" action="?q=${encodeURIComponent(link)}">
${fieldsOf(requestedSchema as JsonObject)}
<p class="actions"><button class="primary" name="decision" value="accept">Send</button><button name="decision" value="decline" formnovalidate>Do not answer</button></p>
</form>
<p class="foot">Answer only if your own assistant has given you this link just now. If somebody else sent it to you, close this page.</p>`,
    });
  }

  /** A call of the caller to whom a link belongs. */
  #callOf({ auth, isLocal }: AskedRecord): Call {
    return {
      id: 0,
      method: 'tools/call',
      params: {},
      peer: { revision: newestRevision, client: undefined, capabilities: {}, logLevel: undefined },
      auth,
      isLocal,
      signal: new AbortController().signal,
      notify: () => undefined,
    };
  }

  async #seal(content: JsonObject): Promise<string> {
    const [key] = (await this.#loadKeys()) as [SealingKey];
    return sealBytes(key, encoder.encode(JSON.stringify(content)), encoder.encode(this.#parts.server));
  }

  async #unseal(text: string): Promise<JsonObject | undefined> {
    const unsealed = await unsealBytes(await this.#loadKeys(), text, encoder.encode(this.#parts.server));
    if (unsealed === undefined || unsealed === 'foreign') return undefined;
    const { e, ...content } = JSON.parse(new TextDecoder().decode(unsealed.plain)) as JsonObject;
    return typeof e === 'number' && e > Date.now() ? content : undefined;
  }

  #loadKeys(): Promise<readonly SealingKey[]> {
    this.#keys ??= Promise.all(this.#secrets().map((secret) => deriveSealingKey(secret, PURPOSE)));
    return this.#keys;
  }

  #secrets(): readonly string[] {
    const secrets = this.#parts.secrets();
    if (secrets !== undefined) return secrets;
    this.#parts.log(
      'warning',
      'No secret is set: only this process can open the links of "fallbacks.page", and only until it ends. Set MCP_SECRET or createServer({ secret }).',
    );
    return [randomSecret()];
  }
}

/** A form that a browser has sent. */
interface SentForm {
  readonly link: string;
  readonly entry: StoreEntry;
  readonly record: AskedRecord;
  readonly call: Call;
  readonly question: PageQuestion;
  /** Whether the browser has proved to be that of the caller. */
  readonly isProved: boolean;
}

async function readForm({ request }: PageQuestion, sent: URLSearchParams): Promise<JsonObject> {
  if (sent.get('decision') !== 'accept') return { action: 'decline' };
  const requestedSchema = (request['params'] as JsonObject)['requestedSchema'] as JsonObject;
  const content = valuesOf(requestedSchema, sent);
  const schema = compileSchema(requestedSchema, { io: 'input', requireObject: true });
  const checked = await schema.validate(content);
  if (checked.ok) return { action: 'accept', content };
  return { problem: await explainLater(checked.issues, schema, content) };
}

const GONE =
  'This question is closed. It was answered, or the link has expired. Ask your assistant for a new link.';
const ANSWERED = 'This question was answered already. If you have the code, give it to your assistant.';
const OTHER_CALLER = 'This question belongs to another account. Nothing was answered.';
const TAKEN = 'Your answer has arrived. You can close this page and return to your assistant.';

function messagePage(message: string, status = 200): Promise<Response> {
  return pageReply({
    title: 'Question',
    status,
    body: html`<h1>Question</h1>
<p>${message}</p>`,
  });
}

function codePage(code: string): Promise<Response> {
  const shown = `${code.slice(0, CODE_DIGITS / 2)} ${code.slice(CODE_DIGITS / 2)}`;
  return pageReply({
    title: 'Almost done',
    body: html`<h1>Almost done</h1>
<p>Give this code to your assistant, so that your answer counts:</p>
<p><strong><code>${shown}</code></strong></p>
<p class="foot">Give it to nobody else. Without the code, the answer is not used.</p>`,
  });
}

function randomCode(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return String(random % 10 ** CODE_DIGITS).padStart(CODE_DIGITS, '0');
}

async function digestText(text: string): Promise<string> {
  return encodeBase64Url(await digestOf(text));
}

function codeDigest(key: string, code: string): Promise<string> {
  return digestText(`${key} ${code}`);
}
