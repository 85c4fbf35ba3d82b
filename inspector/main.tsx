import { render } from 'preact';
import { Frame } from './frame/frame.js';
import { goLive } from './state/live.js';

// The token is in a cookie by now. Without it, the address can be shown and shared.
if (new URLSearchParams(location.search).has('token'))
  history.replaceState(history.state, '', `${location.pathname}${location.hash}`);

const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(<Frame />, root);
}
void goLive();
