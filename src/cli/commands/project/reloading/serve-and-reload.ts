// Serves a file that is reloaded on save, over stdio or on this computer only.

import { resolve } from 'node:path';
import { shellWord } from '../../../../tooling/clean.js';
import type { Typed } from '../../../command/definition.js';
import { CommandError, usageError } from '../../../command/failures.js';
import { withSignals } from '../../../command/with-signals.js';
import { printFindings } from '../../../results/print-findings.js';
import { onKeys } from '../../../terminal/keys.js';
import { isSourceFile, type LoadedServer } from '../serving/load-server.js';
import { type Beside, type ListenAddress, serveOnNetwork, serveOnStdio } from '../serving/serve-server.js';
import { lintedServer } from './describe-server.js';
import { type JournalLines, journalOf } from './journal-lines.js';
import { type ReloadedProject, reloadOnSave } from './reload-on-save.js';

const FIRST_PORT = 3000;
const PORTS = 20;
/** The versions of the code get this time to end. Then they are killed. */
const CLOSE_MS = 3000;

interface ServingOptions {
  /** Default: on stdin and stdout. */
  readonly listening?: Pick<ListenAddress, 'port' | 'websocket'> | undefined;
  /** Whether the inspector runs beside it. Default: false. */
  readonly hasInspector?: boolean;
}

/** Serves until the user stops it. Without a port, takes the first free one from 3000 on. */
export async function serveAndReload(
  file: string,
  { listening, hasInspector = false }: ServingOptions,
  input: Typed,
): Promise<void> {
  if (!isSourceFile(file))
    throw usageError(`${JSON.stringify(file)} is not a JavaScript or TypeScript file.`);
  const quitting = new AbortController();
  const stop = (): void => quitting.abort();
  await withSignals(AbortSignal.any([input.signal, quitting.signal]), async (signal) => {
    const stoppable = { ...input, signal };
    const journal = hasInspector ? journalOf() : undefined;
    const project = await reloadOnSave(file, stoppable, journal);
    const { server } = project;
    try {
      if (listening === undefined) {
        project.announce();
        return await serveBelowHost(server, file, stoppable, journal);
      }
      const { port = FIRST_PORT, websocket } = listening;
      const beside =
        journal &&
        ((url: string) => inspectorBeside(url, { address: url, file }, journal).catch(withoutInspector));
      const last = listening.port ?? FIRST_PORT + PORTS - 1;
      await serveOnFreePort([port, last], (free) =>
        // Every caller is trusted, so the environment may not choose another address.
        serveOnNetwork(
          server,
          {
            ...{ port: free, host: '127.0.0.1', websocket, beside },
            onListening: (page) => {
              if (free !== port) input.out.note(`Port ${port} is taken, so this is port ${free}.`);
              return atTerminal({ file, project, page, stop }, stoppable);
            },
          },
          stoppable,
        ),
      );
    } finally {
      await server.close();
    }
  });
}

interface DevPlace {
  readonly file: string;
  readonly project: ReloadedProject;
  /** The address of the inspector, if it runs. */
  readonly page: string | undefined;
  readonly stop: () => void;
}

/** Says what is served, and takes the keys of a person if one is there. Returns the function that gives the keyboard back. */
function atTerminal({ file, project, page, stop }: DevPlace, { out, person }: Typed): () => void {
  const keyboard = out.isPiped || !out.isWatched ? undefined : person();
  if (keyboard?.isPresent !== true || keyboard.isInForeground?.() === false) {
    project.announce(` See: fullmcp lint ${shellWord(file)}`);
    return () => undefined;
  }
  project.announce(' Press l to see them.');
  out.styledNote(
    out.noteStyle('dim', '  Keys: o opens the inspector, r reloads, l lists findings, q quits.'),
  );
  return onKeys(keyboard, {
    o: () => {
      if (page === undefined) return out.note('The inspector does not run.');
      keyboard.openPage(page).catch(() => out.note('The browser does not start. Open the address yourself.'));
    },
    r: project.reload,
    l: () => {
      const { findings } = lintedServer(project.manifest());
      if (findings.length === 0) out.note('Nothing to improve was found.');
      printFindings(findings, out);
    },
    q: stop,
  });
}

/** Serves on stdin and stdout. The host is answered at once, and does not wait for the inspector. */
async function serveBelowHost(
  server: LoadedServer,
  file: string,
  { signal, out }: Typed,
  journal: JournalLines | undefined,
): Promise<void> {
  const beside = journal && inspectorBeside(server, { address: file, file }, journal).catch(withoutInspector);
  void beside?.then(({ note }) => out.note(note));
  try {
    await serveOnStdio(server, signal, { closeMs: CLOSE_MS });
  } finally {
    await (await beside)?.close();
  }
}

async function serveOnFreePort(
  [port, last]: readonly [number, number],
  serve: (port: number) => Promise<void>,
): Promise<void> {
  for (let next = port; ; next++) {
    try {
      return await serve(next);
    } catch (error) {
      if (!(error instanceof CommandError && error.exit === 'connect') || next >= last) throw error;
    }
  }
}

/** The inspector of a server. Its connection stays when the code changes. */
async function inspectorBeside(
  target: string | LoadedServer,
  { address, file }: { readonly address: string; readonly file: string },
  journal: JournalLines,
): Promise<Beside> {
  const { startInspector } = await import('../../../inspecting/start-inspector.js');
  const typed = {
    ...{ target, options: {}, address, typed: shellWord(address), journalMark: journal.mark },
    // The port may be another one the next time.
    historyName: resolve(file),
  };
  const { inspector, url: page, close } = await startInspector({ typed });
  journal.report = inspector.journalEvent;
  journal.written = inspector.stderrLine;
  return { json: { inspector: page }, note: `Inspector: ${page}`, page, close };
}

/** The server is worth serving without the inspector. */
function withoutInspector(error: unknown): Beside {
  const reason = error instanceof Error ? error.message : String(error);
  return { json: {}, note: `The inspector does not start: ${reason}`, close: async () => undefined };
}
