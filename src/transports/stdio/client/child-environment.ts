type Environment = Readonly<Record<string, string | undefined>>;

export interface ChildEnvironmentParts {
  /** The environment of this process. */
  readonly inherited: Environment;
  readonly given: Environment | undefined;
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

/** The environment for a server that was started by its user's wish but written by somebody else. */
export function childEnvironment({
  inherited,
  given = {},
  windows,
}: ChildEnvironmentParts): Record<string, string> {
  // Windows takes `Path` and `PATH` for the same: what is given must replace what is inherited.
  const fold = (name: string): string => (windows ? name.toUpperCase() : name);
  const replaced = new Set(Object.keys(given).map(fold));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    const folded = fold(name);
    const passed = windows ? windowsNames.has(folded) : posixNames.has(name) || name.startsWith('LC_');
    // A value of this form is a shell's exported function: code, not data.
    if (passed && value !== undefined && !value.startsWith('()') && !replaced.has(folded)) {
      environment[name] = value;
    }
  }
  for (const [name, value] of Object.entries(given)) if (value !== undefined) environment[name] = value;
  return environment;
}

/** Reads a variable as its platform does: on Windows whatever its case. */
export function variable(environment: Environment, name: string, windows: boolean): string | undefined {
  if (!windows) return environment[name];
  return Object.entries(environment).find(([key]) => key.toUpperCase() === name)?.[1];
}
