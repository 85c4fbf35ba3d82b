import { describe, expect, it } from 'vitest';
import { createServer, tool } from '../../../../src/index.js';
import { testClient } from '../../../../src/testing.js';

function asking(url: string) {
  const visit = tool({
    run: async (_, ctx) => (await ctx.elicit('page', { message: 'Open this', url })).action,
  });
  return createServer({ name: 'asking', version: '1.0.0', logger: () => undefined, tools: { visit } });
}

async function visit(url: string) {
  const opened: string[] = [];
  await using client = await testClient(asking(url), {
    elicit: {
      form: () => ({ action: 'cancel' }),
      url: (page) => {
        opened.push(page.url);
        return { action: 'accept' };
      },
    },
  });
  return { result: await client.callTool('visit'), opened };
}

describe('a handler that sends the user to a page', () => {
  it.each([
    'javascript:alert(1)',
    ' JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'vscode://extension/install',
    '/login',
    'javascript:long',
  ])(
    'gets an error that says which addresses it may use for %j, and the client is not asked',
    async (url) => {
      const { result, opened } = await visit(url.replace('long', 'x'.repeat(5000)));
      expect(opened).toEqual([]);
      expect(result.isError).toBe(true);
      const { message } = result.cause as Error;
      expect(message).toContain('"url" must be an absolute address that begins with https: or http:');
      expect(message.length).toBeLessThan(400);
    },
  );

  it.each(['https://example.com/login', 'HTTP://127.0.0.1:3000/'])('may use %j', async (url) => {
    expect((await visit(url)).result.text).toBe('accept');
  });
});
