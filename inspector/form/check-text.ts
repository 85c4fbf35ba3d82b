// Formats and patterns of strings.

const MAX_PATTERN = 200;
const MAX_TEXT = 200;
const MAX_REPETITIONS = 3;

/** Whether a string matches; undefined if the pattern could take too long, or is not one. */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  if (!isQuick(pattern) || text.length > MAX_TEXT) return undefined;
  try {
    return new RegExp(pattern, 'u').test(text);
  } catch {
    return undefined;
  }
}

/** A pattern of a server may be made to take forever: no group is repeated, and few characters are. */
function isQuick(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  let repetitions = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') {
      // A reference to a group repeats it.
      if (/[1-9k]/.test(pattern[at + 1] ?? '')) return false;
      at++;
    } else if (character === ')' && '*+{'.includes(pattern[at + 1] ?? ' ')) return false;
    else if (character === '*' || character === '+' || character === '{') repetitions++;
  }
  return repetitions <= MAX_REPETITIONS;
}

export function wrongFormat(format: string, value: string): string | undefined {
  switch (format) {
    case 'date':
      return isDate(value) ? undefined : 'Must be a date, as in 2026-07-28.';
    case 'date-time':
      return value.includes('T') && !Number.isNaN(Date.parse(value))
        ? undefined
        : 'Must be a date and time, as in 2026-07-28T10:00:00Z.';
    case 'email': {
      const at = value.indexOf('@');
      return at > 0 && at < value.length - 1 && !value.includes(' ')
        ? undefined
        : 'Must be an email address.';
    }
    case 'uri':
    case 'url':
      return URL.canParse(value) ? undefined : 'Must be a URI, as in https://example.org.';
    default:
      return undefined;
  }
}

function isDate(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value));
}
