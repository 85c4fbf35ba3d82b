// `node --import` this file: the servers of a process have every middleware.
import { register } from 'node:module';

register('./resolve.js', import.meta.url);
