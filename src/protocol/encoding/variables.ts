// Environment variables inside of the strings of a config.

type Environment = Readonly<Record<string, string | undefined>>;

/** `${NAME}`, `${NAME:-default}`, VS Code's `${env:NAME}`, and its `${input:id}`, which only VS Code can ask for. */
const VARIABLE = /\$\{(env:|input:)?([A-Za-z_][A-Za-z0-9_.-]*?)(?::-([^{}]*))?\}/g;

/** Whether a string is nothing but a variable. */
export function isVariable(text: string): boolean {
  return /^\$\{[^{}]*\}$/.test(text);
}

/** Replaces variables by their values. Calls `onMistake` with the end of a sentence for each that has none. */
export function expandVariables(text: string, env: Environment, onMistake: (what: string) => void): string {
  return text.replace(
    VARIABLE,
    (whole, kind: string | undefined, name: string, fallback: string | undefined) => {
      if (kind === 'input:') {
        onMistake(`needs ${whole}, which only VS Code asks for: use \${env:NAME}`);
        return whole;
      }
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      // As in a shell, an empty variable counts as unset when there is a default.
      const replacement = fallback === undefined ? value : value || fallback;
      if (replacement === undefined) {
        onMistake(`needs the environment variable ${name}, which is not set`);
        return whole;
      }
      return replacement;
    },
  );
}
