// The bare echo in a process that also loads zod.
import 'zod';
import './stdio-floor.js';
