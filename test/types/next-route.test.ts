import { describe, expectTypeOf, it } from 'vitest';
import * as route from '../../examples/next/app/api/mcp/route.js';

/** A request of Next.js, which is a `Request` with more members. */
interface NextRequest extends Request {
  readonly cookies: { get(name: string): { readonly name: string; readonly value: string } | undefined };
  readonly nextUrl: URL;
}
/** The type that Next.js 16 compares the exports of a route with when it builds an app, in `.next/types/validator.ts`. */
type RouteHandler = (
  request: NextRequest,
  context: { params: Promise<Record<never, never>> },
) => Promise<Response | undefined> | Response | undefined;

describe('the Next.js route of the documentation', () => {
  it('has the type that Next.js requires when it builds an app', () => {
    const { GET, POST, DELETE, OPTIONS } = route;
    const handlers = { GET, POST, DELETE, OPTIONS } satisfies Record<string, RouteHandler>;
    expectTypeOf(handlers.GET).parameter(0).toEqualTypeOf<Request>();
  });

  it('does not take the environment of a Worker for a context', () => {
    const env: { MCP_SECRET: string } = { MCP_SECRET: 'x' };
    // @ts-expect-error The second argument is the context, not the environment.
    const wrong = (): unknown => route.POST(new Request('http://localhost'), env);
    expectTypeOf(wrong).toBeFunction();
  });
});
