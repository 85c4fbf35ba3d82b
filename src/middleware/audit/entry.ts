import type { JsonObject } from '../../jsonrpc/message.js';
import type { Call, Outcome } from '../../protocol/call.js';
import { shorten } from '../../protocol/encoding/shorten.js';
import { hideInUrl } from '../../protocol/secrets/url.js';
import { nameParam } from '../../protocol/tables/methods.js';
import { failureOf } from '../facts/call-facts.js';
import type { Redactor } from '../facts/redact.js';

// The entries of an audit log.

/** The facts about a call that are known before it runs. */
export interface AuditFacts {
  /** The time at which the call arrived, as ISO 8601. */
  readonly at: string;
  /** The number of the call in this run of the server: it joins a `start` to its `end`. */
  readonly call: number;
  /** The method, such as `tools/call`. */
  readonly method: string;
  /** The tool, prompt, resource, task or type of events that the call names. URIs are without passwords and secret parameters. */
  readonly name?: string | undefined;
  /** The caller. Without a subject and `isLocal`, nobody is authenticated. */
  readonly caller: AuditCaller;
  /** The IP address at the other end of the connection. */
  readonly address?: string | undefined;
  /** The client's name and version, as it describes itself. */
  readonly client?: string | undefined;
  /** The request's id, which the client chose. */
  readonly id?: string | number | undefined;
  /** The parameters without secrets; long ones are cut off. */
  readonly params?: unknown;
  /** The fields that the option `about` has added. */
  readonly about?: unknown;
}

/** The caller in an entry. */
type AuditCaller = {
  /** The caller's name. */
  readonly subject?: string | undefined;
  /** The issuer of the caller's credentials. */
  readonly issuer?: string | undefined;
  /** The client that the caller uses, as the issuer names it. */
  readonly clientId?: string | undefined;
  /** Whether the caller is the program that runs the server. */
  readonly isLocal?: true | undefined;
};

/** The end of a call. */
export interface AuditEnd {
  /** `ok`, `tool_error` (a result with `isError`), `error`, or the type of the result, such as `input_required` or `task`. */
  readonly outcome: string;
  /** The code of the error, such as `forbidden`; only with the outcome `error`. */
  readonly code?: string | undefined;
  /** The time that the call took, in milliseconds, without the time in which the user was asked. */
  readonly ms: number;
}

/**
 * An entry of an audit log. `call`: a call with its outcome. With the option `intent`, there are two entries instead: `start`, before
 * the call runs, and `end`. `refused`: requests whose credentials were refused, the first for each reason at once, and the others counted once
 * a minute. `lost`: so many entries could not be kept while the log could not be written.
 */
export type AuditEntry =
  | ({
      /** A call with its outcome. */
      readonly type: 'call';
    } & AuditFacts &
      AuditEnd)
  | ({
      /** A call that is about to run. */
      readonly type: 'start';
    } & AuditFacts)
  | ({
      /** The outcome of a call that has a `start`. */
      readonly type: 'end';
    } & Pick<AuditFacts, 'at' | 'call' | 'method' | 'name'> &
      AuditEnd)
  | {
      /** Requests whose credentials were refused, before they became calls. */
      readonly type: 'refused';
      /** The time of the entry, in ISO 8601. */
      readonly at: string;
      /** The status of the replies: 401 or 403. */
      readonly status: number;
      /** The reason, without the credentials. */
      readonly reason: string;
      /** The number of requests since the last entry for this reason. */
      readonly count: number;
      /** The IP address of the last one. */
      readonly address?: string | undefined;
    }
  | {
      /** Entries are missing. */
      readonly type: 'lost';
      /** The time of the entry, in ISO 8601. */
      readonly at: string;
      /** The number of entries that are missing. */
      readonly count: number;
    };

/** An entry, or a note that a log keeps about itself. */
export type AuditNote =
  | AuditEntry
  | {
      /** A process has opened the log. */
      readonly type: 'open';
      /** The time of the entry, in ISO 8601. */
      readonly at: string;
      /** The id of the process. */
      readonly pid: number;
      /** The name of the machine. */
      readonly host: string;
      /** A crash has torn the lines before this one. */
      readonly torn?:
        | {
            /** The number of characters that were torn. */
            readonly chars: number;
            /** The SHA-256 of these characters. */
            readonly digest: string;
          }
        | undefined;
      /** The end of the log was cut off: the entries between the one before this one and this one are missing. */
      readonly cut?: true | undefined;
      /** The head file was missing or wrong, so that nobody can tell whether the end of the log was cut off here. */
      readonly head?: 'missing' | 'unreadable' | undefined;
    }
  | {
      /** The first entry of a further file. */
      readonly type: 'file';
      /** The time of the entry, in ISO 8601. */
      readonly at: string;
      /** The hash of the last entry in the file before. */
      readonly prev: string;
    };

const MAX_NAME = 500;
const MAX_LABEL = 100;

/** The parts of `audit` that an entry needs. */
export interface EntryParts {
  readonly redact: Redactor;
  readonly about: ((call: Call) => JsonObject | undefined) | undefined;
}

/** The facts about a call. Everything that a peer chose is short. */
export function factsOf(call: Call, number: number, { redact, about }: EntryParts): AuditFacts {
  const { method, params, peer, http, id } = call;
  const key = nameParam(method) ?? (method.startsWith('events/') ? 'name' : undefined);
  const name = key === undefined ? undefined : params[key];
  return {
    at: new Date().toISOString(),
    call: number,
    method: shorten(method, MAX_LABEL),
    name: typeof name === 'string' ? shorten(hideInUrl(name), MAX_NAME) : undefined,
    caller: callerOf(call),
    address: http?.remoteAddress,
    client: peer.client && shorten(`${peer.client.name} ${peer.client.version}`, MAX_LABEL),
    id: typeof id === 'string' ? shorten(id, MAX_LABEL) : id,
    params: redact(relevant(params, key)),
    about: about && redact(about(call)),
  };
}

function callerOf({ auth, isLocal }: Call): AuditCaller {
  if (auth === undefined) return isLocal ? { isLocal } : {};
  const { subject, issuer, clientId } = auth;
  return { subject, issuer, clientId };
}

// `_meta` is about the transport, and a state is encrypted. The name has a field of its own.
function relevant(params: JsonObject, key: string | undefined): JsonObject | undefined {
  const entries = Object.entries(params).filter(
    ([name]) => name !== '_meta' && name !== 'requestState' && name !== key,
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** The end of a call that has resolved. */
export function outcomeEnd({ resultType, isError }: Outcome, ms: number): AuditEnd {
  const complete = isError === true ? 'tool_error' : 'ok';
  return { outcome: resultType === 'complete' ? complete : shorten(resultType, MAX_LABEL), ms: round(ms) };
}

/** The end of a call that has thrown. Messages may repeat arguments, so only the code is recorded. */
export function errorEnd(error: unknown, ms: number): AuditEnd {
  return { outcome: 'error', code: failureOf(error), ms: round(ms) };
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
