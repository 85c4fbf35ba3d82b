import type { ConnectionView } from '../../../../src/inspector/contract/connection.js';

/** The headers that were given with a connection, as words of a shell: their values are variables, as in `-H "x-key: $X_KEY"`. */
export function headerWords({ headerNames = [] }: ConnectionView): readonly string[] {
  return (
    headerNames
      // A name with anything else in it could be more than a name for the shell.
      .filter((name) => /^[a-z][a-z0-9-]*$/.test(name))
      .map((name) => `-H "${name}: $${name.toUpperCase().replaceAll('-', '_')}"`)
  );
}
