// The public addresses of the project. package.json has them, and nothing else does: the site, llms.txt and the checks of a release read
// them here.
import { readManifest, root } from './files.js';

/** The domain of addresses that do not exist yet. RFC 2606 reserves `.invalid`, so nobody can ever own it. */
export const PLACEHOLDER = 'example.invalid';

const { version, homepage, bugs, repository } = readManifest(root);

/**
 * `site` is where the documentation is, with a slash at its end, `repository` the page of the source, `issues` the page of its issues.
 * @type {{ version: string, site: string, repository: string, issues: string }}
 */
export const project = {
  version,
  site: homepage,
  repository: repository.url.replace(/^git\+/, '').replace(/\.git$/, ''),
  issues: bugs.url,
};

/** Whether the project has no public address yet: a page then shows no link to its source. */
export const isPlaceholder = placeholdersOf(readManifest(root)).length > 0;

/** The address of a file of this version. @param {string} path */
export function sourceUrl(path) {
  return `${project.repository}/blob/v${version}/${path}`;
}

/**
 * The fields of a package.json whose address is missing, is not an address, or is one that does not exist.
 * @param {{ homepage?: string, bugs?: { url?: string }, repository?: { url?: string } }} manifest
 */
export function placeholdersOf({ homepage, bugs, repository }) {
  const addresses = { homepage, 'bugs.url': bugs?.url, 'repository.url': repository?.url };
  return Object.entries(addresses)
    .filter(([, address]) => !isPublic(address))
    .map(([field]) => field);
}

/** @param {string | undefined} address */
function isPublic(address = '') {
  const text = address.replace(/^git\+/, '');
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' && hostname !== PLACEHOLDER && !hostname.endsWith(`.${PLACEHOLDER}`);
}
