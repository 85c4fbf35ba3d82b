import '../../timeline/timeline.css';
import '../../timeline/lanes/lanes.css';
import './tapes.css';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { cleanLine } from '../../../src/tooling/clean.js';
import { Button } from '../../parts/controls/button.js';
import { Empty } from '../../parts/empty.js';
import { Icon } from '../../parts/icon.js';
import { counted } from '../../parts/values/format.js';
import { run } from '../../state/api.js';
import { addressOf, go, route } from '../../state/route.js';
import { connection, tapes } from '../../state/store.js';
import { fileProblem } from './replay.js';
import { saveTape } from './save-tape.js';
import { TapePage } from './tape-page.js';

/** Recordings: saved from a connection, opened from a file, looked at call by call, made again. */
export function Tapes(): VNode {
  const id = route.value.name;
  const shown = id === undefined ? undefined : tapes.value.get(id);
  const failure = useSignal('');
  const isOver = useSignal(false);
  const take = (files: FileList | null | undefined): void => {
    void importTapes([...(files ?? [])]).then((text) => {
      failure.value = text;
    });
  };
  return (
    <section
      aria-label="Tapes"
      class={isOver.value ? 'place tapes is-over' : 'place tapes'}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      <header class="place-head">
        <h1>Tapes</h1>
        <div class="place-actions">
          {connection.value && (
            <Button icon="download" onClick={() => saveCurrent()}>
              Save {cleanLine(connection.value.name, 40)}
            </Button>
          )}
          <OpenFile onFiles={take} />
        </div>
      </header>
      <p class="muted">
        A tape is what was said on a connection, without its secrets. It opens here, and in a test as a
        recorded server.
      </p>
      <p class="tapes-failure" role="alert">
        {failure.value}
      </p>
      {tapes.value.size === 0 ? (
        <Empty title="No tape is open.">Save one from a connection, or drop a file here.</Empty>
      ) : (
        <nav class="tapes-list" aria-label="Tapes">
          {[...tapes.value.values()].map((tape) => (
            <a
              key={tape.id}
              href={addressOf('tapes', tape.id)}
              aria-current={tape.id === id ? 'true' : undefined}
            >
              <Icon name="tapes" /> {cleanLine(tape.name, 80)}
              <span class="muted">{counted(tape.calls.length, 'call')}</span>
            </a>
          ))}
        </nav>
      )}
      {shown && <TapePage key={shown.id} tape={shown} />}
    </section>
  );
}

function saveCurrent(): void {
  if (connection.value) void saveTape(connection.value);
}

function OpenFile({ onFiles }: { readonly onFiles: (files: FileList | null) => void }): VNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="upload" onClick={() => input.current?.click()}>
        Open a file
      </Button>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        accept=".json,.jsonl,.ndjson,.tape"
        aria-label="Tape to open"
        tabIndex={-1}
        onChange={(event) => {
          onFiles(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

/** Opens files as tapes and shows the last one. Resolves to what went wrong, in words. */
async function importTapes(files: readonly File[]): Promise<string> {
  const problems: string[] = [];
  for (const file of files.slice(0, 10)) {
    const problem = fileProblem(file);
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    try {
      const { tape } = await run('importTape', { name: file.name.slice(0, 200), text: await file.text() });
      go('tapes', tape);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  return problems.join(' ');
}
