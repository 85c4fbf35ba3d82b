import { describe, expect, test } from 'vitest';
import { type Answering, type Connection, connectTo, type Row } from './connections.js';

// One handler that asks the user, the model and the client for its roots, with every official client over every transport.

/** Asks the clients of these rows. The server is `interop-definition.js`. */
export function officialAskingTests(rows: readonly Row[], url: () => string): void {
  describe.each(rows)('client $who over $over', (row) => {
    test('answers every question, and the step of the handler runs once', async () => {
      const methods: string[] = [];
      const connection = await connectTo(
        url(),
        row,
        answers((method) => methods.push(method)),
      );
      const key = nameOf(row);
      try {
        const { structuredContent } = await connection.call('commission', { key });
        expect(structuredContent).toEqual({
          name: 'Ada',
          slogan: 'Ada adds up',
          ordered: true,
          folders: [{ uri: 'file:///work', name: 'work' }],
          sure: { action: 'accept', content: { sure: true } },
        });
        expect(methods.slice(0, 2)).toEqual(['elicitation/create', 'sampling/createMessage']);
        expect(methods.slice(2).sort()).toEqual(['elicitation/create', 'roots/list']);
        expect((await effectsOf(connection, key)).length).toBe(1);
        expect(connection.errors).toEqual([]);
      } finally {
        await connection.close();
      }
    });

    test('gets a result with an error for the model if it declines a question, and no step runs', async () => {
      const key = `${nameOf(row)} declined`;
      const connection = await connectTo(url(), row, async () => ({ action: 'decline' }));
      try {
        expect(await connection.call('commission', { key })).toMatchObject({
          isError: true,
          content: [{ text: 'The user declined: name' }],
        });
        expect(await effectsOf(connection, key)).toEqual([]);
      } finally {
        await connection.close();
      }
    });

    test('gets an error if it declares no capability to answer questions', async () => {
      const connection = await connectTo(url(), row);
      try {
        const outcome = connection.call('commission', { key: 'nobody' });
        if (row.modern) await expect(outcome).rejects.toMatchObject({ code: -32021 });
        else expect(await outcome).toMatchObject({ isError: true });
      } finally {
        await connection.close();
      }
    });
  });
}

function answers(note: (method: string) => void): Answering {
  return async ({ method, params }) => {
    note(method);
    if (method === 'roots/list') return { roots: [{ uri: 'file:///work', name: 'work' }] };
    if (method === 'sampling/createMessage') {
      expect(JSON.stringify(params?.messages)).toContain('A slogan for Ada');
      return { role: 'assistant', model: 'small', content: { type: 'text', text: 'Ada adds up' } };
    }
    const name = params?.message === 'Your name?';
    return { action: 'accept', content: name ? { name: 'Ada' } : { sure: true } };
  };
}

function nameOf({ who, over }: Row): string {
  return `${who} ${over}`;
}

async function effectsOf({ call }: Connection, key: string): Promise<readonly string[]> {
  return ((await call('effects', { key })).structuredContent as { keys: string[] }).keys;
}
