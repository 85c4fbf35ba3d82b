import { readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { type Client, connect, type Target } from 'fullmcp/client';
import { recorder, replay } from 'fullmcp/testing';

/** The program under test: the warmest of some cities. */
export async function warmest(client: Client, cities: readonly string[]): Promise<string | undefined> {
  let best: { city: string; celsius: number } | undefined;
  for (const city of cities) {
    const { celsius } = (await client.callTool('weather', { city })).unwrap() as { celsius: number };
    if (best === undefined || celsius > best.celsius) best = { city, celsius };
  }
  return best?.city;
}

/** Runs `use` against the real server and saves the session if RECORD is set; otherwise, as in CI, against the tape. */
export async function withTape<T>(
  file: string,
  target: Target,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  if (process.env['RECORD'] === undefined) {
    await using client = await connect(replay(await readFile(file, 'utf8')));
    return await use(client);
  }
  const tape = recorder({ redact: ['iban'] }); // tokens, passwords and the like are left out anyway
  await using client = await connect(target, { use: [tape] });
  const result = await use(client);
  await writeFile(file, tape.recording);
  return result;
}
