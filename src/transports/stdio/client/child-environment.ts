type Environment = Readonly<Record<string, string | undefined>>;

export interface ChildEnvironmentParts {
  /** The environment of this process. */
  readonly inherited: Environment;
  /** Variables from the program, which replace inherited ones. */
  readonly overrides: Environment | undefined;
  readonly windows: boolean;
}

// The variables that programs need to run at all. Any other may be a secret: tokens are commonly kept in the environment.
const posixNames = new Set(['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']);
const windowsNames = new Set([
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMMONPROGRAMFILES',
  'COMMONPROGRAMFILES(X86)',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'OS',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'TZ',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
]);

/** The environment for a server process, which may be a program of a third party: only safe variables are passed on. */
export function childEnvironment({
  inherited,
  overrides = {},
  windows,
}: ChildEnvironmentParts): Record<string, string> {
  // On Windows `Path` and `PATH` are the same variable, and an override must replace the inherited one.
  const fold = (name: string): string => (windows ? name.toUpperCase() : name);
  const replaced = new Set(Object.keys(overrides).map(fold));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    const folded = fold(name);
    const isPassedOn = windows ? windowsNames.has(folded) : posixNames.has(name) || name.startsWith('LC_');
    // A value of this form is a shell's exported function: code, not data.
    if (isPassedOn && value !== undefined && !value.startsWith('()') && !replaced.has(folded)) {
      environment[name] = value;
    }
  }
  for (const [name, value] of Object.entries(overrides)) if (value !== undefined) environment[name] = value;
  return environment;
}

/** Reads a variable as its platform does: on Windows, names are not case-sensitive. */
export function variable(environment: Environment, name: string, windows: boolean): string | undefined {
  if (!windows) return environment[name];
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
