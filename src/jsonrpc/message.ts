// Reads and prints JSON-RPC 2.0 messages. Reading is strict, so that no other code has to check a message again.

/** The id of a JSON-RPC request: a string, or an integer. */
export type RequestId = string | number;
/** A JSON object. */
export type JsonObject = { [key: string]: unknown };

export interface RequestMessage {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface NotificationMessage {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}

interface ResultMessage {
  readonly kind: 'result';
  readonly id: RequestId;
  readonly result: JsonObject;
}

interface ErrorMessage {
  readonly kind: 'error';
  readonly id: RequestId | undefined;
  readonly error: ErrorObject;
}

/** An error as JSON-RPC carries it. */
export interface ErrorObject {
  /** The JSON-RPC error number, such as -32602. */
  readonly code: number;
  /** The error in one sentence. */
  readonly message: string;
  /** More about the error, as JSON. */
  readonly data?: unknown;
}

/** A value that is not a message: the reason, and the id to respond under, if it could be read. */
export interface InvalidMessage {
  readonly kind: 'invalid';
  readonly id: RequestId | undefined;
  readonly reason: string;
}

export type Message = RequestMessage | NotificationMessage | ResultMessage | ErrorMessage;

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The limit of an id, which is kept while its request is open and repeated in every message of the request. */
const MAX_ID_LENGTH = 1024;
const MAX_METHOD_LENGTH = 256;

/** Whether a value is an id: a string or an integer. Unlike JSON-RPC, MCP does not allow null or fractions. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' ? value.length <= MAX_ID_LENGTH : Number.isSafeInteger(value);
}

/** Reads the id to respond under from a value that is refused before it is read as a message. */
export function readableId(value: unknown): RequestId | undefined {
  return isObject(value) && 'method' in value && isRequestId(value['id']) ? value['id'] : undefined;
}

/** Reads one parsed JSON value as a message. A batch is not a message: the caller handles batches. */
export function readMessage(value: unknown): Message | InvalidMessage {
  if (!isObject(value)) return invalid(undefined, 'a message must be a JSON object');
  const { id, method, params } = value;
  const validId = isRequestId(id) ? id : undefined;
  if (value['jsonrpc'] !== '2.0') return invalid(validId, '"jsonrpc" must be "2.0"');
  if (id !== undefined && validId === undefined && !('error' in value)) {
    return invalid(undefined, `"id" must be an integer or a string of at most ${MAX_ID_LENGTH} characters`);
  }
  if (method !== undefined) {
    if (typeof method !== 'string' || method === '')
      return invalid(validId, '"method" must be a non-empty string');
    if (method.length > MAX_METHOD_LENGTH) {
      return invalid(validId, `"method" may have at most ${MAX_METHOD_LENGTH} characters`);
    }
    if (params !== undefined && !isObject(params)) return invalid(validId, '"params" must be an object');
    if ('result' in value || 'error' in value) {
      return invalid(validId, 'a message has either "method" or "result" or "error"');
    }
    return validId === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id: validId, method, params };
  }
  return readResponse(value, validId);
}

function readResponse(value: JsonObject, id: RequestId | undefined): Message | InvalidMessage {
  const { result, error } = value;
  if (result !== undefined && error !== undefined) {
    return invalid(id, 'a response has either "result" or "error"');
  }
  if (result !== undefined) {
    if (id === undefined) return invalid(undefined, 'a result must have an "id"');
    if (!isObject(result)) return invalid(id, '"result" must be an object');
    return { kind: 'result', id, result };
  }
  if (isObject(error)) {
    const { code, message, data } = error;
    if (!Number.isInteger(code) || typeof message !== 'string') {
      return invalid(id, '"error" must have an integer "code" and a string "message"');
    }
    const object = { code: code as number, message };
    return { kind: 'error', id, error: data === undefined ? object : { ...object, data } };
  }
  return invalid(id, 'a message must have "method", "result" or "error"');
}

function invalid(id: RequestId | undefined, reason: string): InvalidMessage {
  return { kind: 'invalid', id, reason };
}

// Printing. A result is passed as JSON, so that a result that was printed before is not printed again.

export function printResult(id: RequestId, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${printId(id)},"result":${resultJson}}`;
}

export function printError(id: RequestId | undefined, error: ErrorObject): string {
  const idField = id === undefined ? '' : `,"id":${printId(id)}`;
  return `{"jsonrpc":"2.0"${idField},"error":${JSON.stringify(error)}}`;
}

export function printNotification(method: string, params: JsonObject | undefined): string {
  return params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`;
}

export function printRequest(id: RequestId, method: string, params: JsonObject | undefined): string {
  return joinRequest(id, method, params === undefined ? undefined : JSON.stringify(params));
}

/** Prints a request whose parameters were printed before. */
export function joinRequest(id: RequestId, method: string, paramsJson: string | undefined): string {
  const paramsField = paramsJson === undefined ? '' : `,"params":${paramsJson}`;
  return `{"jsonrpc":"2.0","id":${printId(id)},"method":${JSON.stringify(method)}${paramsField}}`;
}

function printId(id: RequestId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}
