import { isUtf8 } from 'node:buffer';

// Events of a Lambda function URL or an API Gateway HTTP API (payload format 2.0) as web requests, and responses as results.

/** The parts of an event that a request is made of. */
export interface HttpEvent {
  readonly version: string;
  readonly rawPath: string;
  readonly rawQueryString: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly body?: string;
  readonly isBase64Encoded: boolean;
  readonly requestContext: {
    readonly domainName: string;
    readonly http: { readonly method: string; readonly sourceIp: string };
  };
}

/** Everything of a response but its body. */
export interface HttpHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

/** The result of an invocation. */
export interface HttpResult extends HttpHead {
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

export function toRequest(event: HttpEvent): Request {
  if (event.version !== '2.0')
    throw new Error(`The payload format must be 2.0, but it is ${event.version}. Set it in the integration.`);
  const { domainName, http } = event.requestContext;
  const headers = new Headers(event.headers);
  if (event.cookies !== undefined) headers.set('cookie', event.cookies.join('; '));
  // The header that `trustProxy` reads. A client may have sent one of its own.
  headers.set('x-forwarded-for', http.sourceIp);
  const query = event.rawQueryString === '' ? '' : `?${event.rawQueryString}`;
  const hasBody = event.body !== undefined && http.method !== 'GET' && http.method !== 'HEAD';
  return new Request(`https://${domainName}${event.rawPath}${query}`, {
    method: http.method,
    headers,
    ...(hasBody && { body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8') }),
  });
}

export async function toResult(response: Response): Promise<HttpResult> {
  const bytes = Buffer.from(await response.arrayBuffer());
  const isText = isUtf8(bytes);
  return {
    ...headOf(response),
    body: bytes.toString(isText ? 'utf8' : 'base64'),
    isBase64Encoded: !isText,
  };
}

/** Cookies are apart from the other headers, because there may be several. */
export function headOf({ status, headers }: Response): HttpHead {
  const { 'set-cookie': _, ...others } = Object.fromEntries(headers);
  return { statusCode: status, headers: others, cookies: headers.getSetCookie() };
}
