// @ts-check
// A proxy in front of server.js. Prints its address. The first argument is the address of server.js, and the second one the revision
// to speak with it.
import process from 'node:process';
import { serve } from 'fullmcp/node';
import { proxy } from 'fullmcp/proxy';

const [target = '', revision] = process.argv.slice(2);
const options = revision === undefined ? {} : { revision: /** @type {'2025-11-25'} */ (revision) };
const { url } = await serve(proxy(target, options), { port: 0 });
console.log(url);
