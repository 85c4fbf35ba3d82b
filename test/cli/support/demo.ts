import { serve } from 'fullmcp/node';
import { afterAll, beforeAll } from 'vitest';
import { ownDemo } from '../../support/examples/demo.js';

/** Serves the demo over HTTP while the tests of a file run. */
export function demoServer(): { readonly url: string } {
  const served = { url: '' };
  let close: (() => Promise<void>) | undefined;
  beforeAll(async () => {
    const running = await serve(await ownDemo(), { port: 0 });
    served.url = running.url;
    close = () => running.close();
  });
  afterAll(() => close?.());
  return served;
}
