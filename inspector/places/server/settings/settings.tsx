import type { VNode } from 'preact';
import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';
import { cleanLine } from '../../../../src/tooling/clean.js';
import { run } from '../../../state/api.js';
import { hasLetterKeys, theme } from '../../../state/settings.js';
import { history, version } from '../../../state/store.js';
import { Deletion } from './deletion.js';

const THEMES = [
  ['system', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

/** The few things that can be set, and what can be deleted. */
export function Settings({ connection }: { readonly connection: ConnectionView }): VNode {
  const { id } = connection;
  const name = cleanLine(connection.name, 60);
  return (
    <div class="server-settings">
      <fieldset>
        <legend>Theme</legend>
        {THEMES.map(([value, word]) => (
          <label key={value}>
            <input
              type="radio"
              name="theme"
              checked={theme.value === value}
              onChange={() => (theme.value = value)}
            />
            {word}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Keyboard</legend>
        <label>
          <input
            type="checkbox"
            checked={hasLetterKeys.value}
            onChange={({ currentTarget }) => (hasLetterKeys.value = currentTarget.checked)}
          />
          Single letters are keys while no field has the focus
        </label>
      </fieldset>
      <Deletion
        title="Remembered answers"
        button="Forget the answers"
        done="The answers are forgotten"
        work={() => run('forgetAnswers', { connection: id })}
      >
        Questions that you answered with “Remember for this tool” are answered by the inspector. Forget them,
        and {name} asks you again.
      </Deletion>
      <Deletion
        title="History"
        button="Clear the history"
        done="The history is cleared"
        work={() => run('clear', { connection: id })}
      >
        Deletes the calls and messages of {name}, also those of earlier visits, except those that are pinned
        or not over.
      </Deletion>
      {history.value && (
        <Deletion
          title="History of the project"
          button="Forget the history"
          done="The history is forgotten"
          work={() => run('forgetHistory', {})}
        >
          Calls are kept for 30 days in a file of yours outside of the project, without secrets, so that the
          next visit shows them. Forget them, of all servers of this project.{' '}
          {history.value.notice !== undefined && cleanLine(history.value.notice, 500)}
        </Deletion>
      )}
      {!connection.isFixed && (
        <Deletion
          title="Connection"
          button="Disconnect"
          done="Disconnected"
          work={() => run('disconnect', { connection: id })}
        >
          Closes the connection to {name} and takes its calls from the page.
          {connection.process !== undefined && ' The process that was started for it is ended.'}
        </Deletion>
      )}
      <p class="label muted">
        fullmcp {version.value}. Settings are kept in this browser; nothing is sent anywhere but to the
        server.
      </p>
    </div>
  );
}
