// The outcome of one step of the examination of a server.

export interface StepFinding {
  /** The name of the step, such as `tls`. */
  readonly step: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
  /** How to repair it. */
  readonly fix?: string;
}

export function ok(step: string, message: string): StepFinding {
  return { step, status: 'ok', message: oneStop(message) };
}

export function skipped(step: string, message: string): StepFinding {
  return { step, status: 'skipped', message: oneStop(message) };
}

/** Something that works, and that should not stay as it is. */
export function warning(step: string, message: string, fix: string): StepFinding {
  return { step, status: 'warning', message: oneStop(message), fix: oneStop(fix) };
}

export function failed(step: string, message: string, fix: string): StepFinding {
  return { step, status: 'failed', message: oneStop(message), fix: oneStop(fix) };
}

// The words of a server often end with a full stop of their own.
function oneStop(text: string): string {
  return text.replace(/([.!?])\.$/, '$1');
}

/** The message of an error as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return (message || code || 'unknown').replace(/\.$/, '');
}
