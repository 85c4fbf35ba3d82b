// Pictures in the terminals that can show them. The bytes reach the terminal as Base64 only, so that nothing in them controls it.

const MAX_BYTES = 4_000_000;
/** The Kitty protocol takes data in pieces of at most this length. */
const PIECE = 4096;

type Env = Readonly<Record<string, string | undefined>>;

/** The codes that show a picture; undefined if this terminal cannot, or if the bytes are not a picture that it knows. */
export function pictureCodes(bytes: Uint8Array, env: Env): string | undefined {
  const kind = kindOf(bytes);
  if (kind === undefined || bytes.length > MAX_BYTES) return undefined;
  const base64 = Buffer.from(bytes).toString('base64');
  switch (protocolOf(env)) {
    case 'iterm':
      return `\u001b]1337;File=inline=1;size=${bytes.length};preserveAspectRatio=1:${base64}\u0007`;
    case 'kitty':
      return kind === 'png' ? kitty(base64) : undefined;
    default:
      return undefined;
  }
}

/** A multiplexer such as tmux does not pass the codes on. */
function protocolOf({ TERM = '', TERM_PROGRAM, TMUX, STY }: Env): 'iterm' | 'kitty' | undefined {
  if (TMUX || STY || /^(?:screen|tmux|dumb)/.test(TERM)) return undefined;
  if (TERM === 'xterm-kitty' || TERM_PROGRAM === 'ghostty') return 'kitty';
  return TERM_PROGRAM === 'iTerm.app' || TERM_PROGRAM === 'WezTerm' ? 'iterm' : undefined;
}

function kitty(base64: string): string {
  const pieces = base64.match(new RegExp(`.{1,${PIECE}}`, 'g')) ?? [];
  return pieces
    .map((piece, at) => {
      const first = at === 0 ? 'a=T,f=100,' : '';
      return `\u001b_G${first}m=${at < pieces.length - 1 ? 1 : 0};${piece}\u001b\\`;
    })
    .join('');
}

/** By its first bytes: a server may call anything a picture. */
function kindOf(bytes: Uint8Array): 'png' | 'jpeg' | 'gif' | undefined {
  const start = Buffer.from(bytes.subarray(0, 8)).toString('latin1');
  if (start === '\u0089PNG\r\n\u001a\n') return 'png';
  if (start.startsWith('\u00ff\u00d8\u00ff')) return 'jpeg';
  return start.startsWith('GIF87a') || start.startsWith('GIF89a') ? 'gif' : undefined;
}
