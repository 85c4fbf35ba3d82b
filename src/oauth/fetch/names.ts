// Host names that are not public whatever they resolve to.

/** Whether a host name means this computer: `localhost` and the names under it, even with a dot at the end. */
export function isLoopbackName(hostname: string): boolean {
  const name = canonicalName(hostname);
  return name === 'localhost' || name.endsWith('.localhost');
}

// RFC 6762, RFC 8375, and the domain that ICANN reserves for private use; clouds serve their metadata under it.
const privateDomains = ['local', 'home.arpa', 'internal', 'localdomain'];

/** Whether a host name belongs to a local network by its form: it has one label, or ends with a domain for private use. */
export function isPrivateName(hostname: string): boolean {
  const name = canonicalName(hostname);
  return (
    !name.includes('.') || privateDomains.some((domain) => name === domain || name.endsWith(`.${domain}`))
  );
}

/** A host name in lower case and without the dots at its end, which lead to the same host. */
export function canonicalName(hostname: string): string {
  let end = hostname.length;
  while (hostname[end - 1] === '.') end--;
  return hostname.slice(0, end).toLowerCase();
}
