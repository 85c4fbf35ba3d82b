import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changeRequests, loadRequests } from '../../../../src/tooling/requests/request-file.js';
import { REQUESTS_SCHEMA } from '../../../../src/tooling/requests/requests-schema.js';
import {
  MAX_FILE_BYTES,
  parseRequests,
  withDefinition,
  withoutRequest,
  withRequest,
  writeRequests,
} from '../../../../src/tooling/requests/saved-request.js';

async function place(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fullmcp-requests-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'mcp.requests.json');
}

describe('the file of requests', () => {
  it('is described by the JSON Schema in the docs', async () => {
    const url = new URL('../../../../docs/mcp.requests.schema.json', import.meta.url);
    expect(JSON.parse(await readFile(url, 'utf8'))).toEqual(REQUESTS_SCHEMA);
  });

  it('has the same text for the same requests, however their fields were ordered', () => {
    const one = '{"requests":[{"expect":{"fails":true},"tool":"b","name":"a"}],"version":1}';
    const other = '{"version":1,"requests":[{"name":"a","tool":"b","expect":{"fails":true}}]}';
    const text = writeRequests(parseRequests(one));
    expect(writeRequests(parseRequests(other))).toBe(text);
    expect(writeRequests(parseRequests(text))).toBe(text);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it('keeps what others wrote when a request is added, replaced or removed', async () => {
    const path = await place();
    await changeRequests(path, (file) => withRequest(file, { name: 'a', tool: 'x' }));
    await writeFile(
      path,
      JSON.stringify({ version: 1, target: 'src/s.ts', requests: [{ name: 'a', tool: 'x' }] }),
    );
    await changeRequests(path, (file) => withRequest(file, { name: 'b', tool: 'y' }));
    await changeRequests(path, (file) => withRequest(file, { name: 'a', tool: 'z' }));
    await changeRequests(path, (file) =>
      withDefinition(withDefinition(file, 'tools', ['z', { description: 'Z' }]), 'tools', [
        'y',
        { description: 'Y' },
      ]),
    );
    const { requests } = await changeRequests(path, (file) => withoutRequest(file, 'b'));
    expect(requests).toEqual({
      version: 1,
      target: 'src/s.ts',
      requests: [{ name: 'a', tool: 'z' }],
      definitions: { tools: { z: { description: 'Z' } } },
    });
  });

  it('is not written if it was changed since it was read, if the change cannot be read again, or if it is too large', async () => {
    const path = await place();
    const before = await loadRequests(path);
    await writeFile(path, '{"version":1,"requests":[]}');
    const add = changeRequests(path, (file) => withRequest(file, { name: 'a', tool: 'x' }), before);
    await expect(add).rejects.toThrow('was changed in the meantime. Nothing was written.');
    const invalid = changeRequests(path, (file) => withRequest(file, { name: 'a' }));
    await expect(invalid).rejects.toThrow('needs one of "tool", "resource" and "prompt"');
    const large = { name: 'a', tool: 'x', arguments: { text: 'x'.repeat(MAX_FILE_BYTES) } };
    await expect(changeRequests(path, (file) => withRequest(file, large))).rejects.toThrow(
      'larger than 5 MB',
    );
    expect(await readFile(path, 'utf8')).toBe('{"version":1,"requests":[]}');
    expect(await readdir(join(path, '..'))).toEqual(['mcp.requests.json']);
  });

  it('is written by one program at a time, and a lock of a program that died is removed', async () => {
    const path = await place();
    const part = `${path}.part`;
    await writeFile(part, '');
    const add = (): Promise<unknown> =>
      changeRequests(path, (file) => withRequest(file, { name: 'a', tool: 'x' }));
    await expect(add()).rejects.toThrow('is being written by another program');
    await utimes(part, new Date(0), new Date(0));
    await add();
    expect((await loadRequests(path)).requests.requests).toEqual([{ name: 'a', tool: 'x' }]);
    expect(await readdir(join(path, '..'))).toEqual(['mcp.requests.json']);
  });
});
