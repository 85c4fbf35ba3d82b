import { render } from 'preact';
import { Frame } from './frame/frame.js';
import { goLive } from './state/live.js';

const root = document.getElementById('app');
if (root) {
  root.replaceChildren();
  render(<Frame />, root);
}
void goLive();
