// The database that a URL or a pool leads to: its name for people, and its secrets, which are kept out of all messages.

import { conceal } from '../../../protocol/secrets/values.js';
import type { PgPool } from './pg.js';

/** The database that a cluster is on. */
export interface DatabaseTarget {
  /** Host, port and database, for messages. */
  readonly name: string;
  /** Replaces the password of the URL in a message. */
  readonly redact: (text: string) => string;
}

/** Reads the URL of a database. Throws a `TypeError` that does not repeat the URL, which may have a password. */
export function targetOfUrl(url: string): DatabaseTarget {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol))
    throw new TypeError(
      'postgres: the option "url" is not the URL of a Postgres database. Write it as "postgres://user:password@host:5432/database", with special characters of the password percent-encoded.',
    );
  const { hostname, port, pathname, password, searchParams } = parsed;
  const secrets = [password, decoded(password), searchParams.get('password') ?? ''];
  const host = hostname || searchParams.get('host') || 'localhost';
  const database = decoded(pathname.slice(1));
  return {
    name: `${decoded(host)}:${port || '5432'}${database === '' ? '' : `/${database}`}`,
    redact: (text) => withoutSecrets(text, secrets),
  };
}

/** Reads the name of the database of a pool. */
export function targetOfPool({ options = {} }: PgPool): DatabaseTarget {
  const { connectionString } = options;
  if (connectionString !== undefined && URL.canParse(connectionString)) {
    const { hostname, port, pathname, searchParams } = new URL(connectionString);
    const host = hostname || searchParams.get('host') || 'localhost';
    return { name: `${host}:${port || '5432'}${pathname.length > 1 ? pathname : ''}`, redact: withoutUrls };
  }
  const { host = 'localhost', port = 5432, database } = options;
  return { name: `${host}:${port}${database === undefined ? '' : `/${database}`}`, redact: withoutUrls };
}

function withoutUrls(text: string): string {
  return text.replace(/(postgres(?:ql)?:\/\/[^:@/\s]*:)[^@\s]*@/g, '$1***@');
}

/** The database that the environment variables of Postgres (`PGHOST`, `PGPORT`, `PGDATABASE`, …) lead to. */
export function targetOfEnvironment(env: NodeJS.ProcessEnv): DatabaseTarget {
  const { PGHOST = 'localhost', PGPORT = '5432', PGDATABASE, PGPASSWORD = '' } = env;
  return {
    name: `${PGHOST}:${PGPORT}${PGDATABASE === undefined ? '' : `/${PGDATABASE}`}`,
    redact: (text) => withoutSecrets(text, [PGPASSWORD]),
  };
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return conceal(text, secrets, { mask: '***', minLength: 1 });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new TypeError(
      'postgres: the option "url" has a percent sign that does not begin a percent-encoded character. Write "%25" for a percent sign.',
    );
  }
}
