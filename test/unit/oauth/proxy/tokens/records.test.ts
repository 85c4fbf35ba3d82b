import { memoryStore } from 'fullmcp';
import { describe, expect, it } from 'vitest';
import { Records } from '../../../../../src/oauth/proxy/tokens/records.js';
import { Sealer } from '../../../../../src/oauth/proxy/tokens/sealer.js';

const SECRET = 'a secret with at least 32 characters';

function recordsOf(store = memoryStore(), { secret = SECRET, owner = 'one server' } = {}) {
  return { store, records: new Records({ store, owner, sealer: new Sealer([secret], owner) }) };
}

describe('the records of oauthProxy', () => {
  it('open only at the place where they were written, and unchanged', async () => {
    const { store, records } = recordsOf();
    const value = { user: 'alice' };
    await records.write([await records.put('oauth-grant', 'a', { value })]);
    expect((await records.read('oauth-grant', 'a'))?.value).toEqual(value);
    const written = await store.get(await records.key('oauth-grant', 'a'));
    const sealed = String(written?.value['sealed']);
    expect(sealed).not.toContain('alice');
    const place = async (kind: 'oauth-grant' | 'oauth-login', id: string, text: string) => {
      await store.write([{ do: 'put', key: await records.key(kind, id), value: { sealed: text } }]);
      return records.read(kind, id);
    };
    // Somebody who can write to the store gives a login to another user, or makes a login of something else.
    expect(await place('oauth-grant', 'b', sealed)).toBeUndefined();
    expect(await place('oauth-login', 'a', sealed)).toBeUndefined();
    const changed = `${sealed.slice(0, -1)}${sealed.at(-1) === 'A' ? 'B' : 'A'}`;
    expect(await place('oauth-grant', 'a', changed)).toBeUndefined();
    expect(await place('oauth-grant', 'a', JSON.stringify(value))).toBeUndefined();
    expect((await place('oauth-grant', 'a', sealed))?.value).toEqual(value);
  });

  it('are not those of another server, or of another secret, in the same store', async () => {
    const { store, records } = recordsOf();
    await records.write([await records.put('oauth-grant', 'a', { value: { user: 'alice' } })]);
    const other = recordsOf(store, { owner: 'another server' });
    expect(await other.records.read('oauth-grant', 'a')).toBeUndefined();
    const foreign = recordsOf(store, { secret: 'another secret with 32 characters or more' });
    expect(await foreign.records.read('oauth-grant', 'a')).toBeUndefined();
  });
});
