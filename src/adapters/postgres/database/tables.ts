// The tables of the schema.

/**
 * The statements that make the tables. Keys are compared by their bytes (`COLLATE "C"`); values are JSON as text, because the JSON
 * types of Postgres change numbers and reject the character U+0000.
 */
export function tables(schema: string): string {
  return `
-- Versions, tokens, positions and ids. It never starts again, and no connection takes numbers in advance.
CREATE SEQUENCE ${schema}.counter;

CREATE TABLE ${schema}.entry (
  key text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  version bigint NOT NULL,
  expires timestamptz
);
CREATE INDEX entry_expires ON ${schema}.entry (expires) WHERE expires IS NOT NULL;

CREATE TABLE ${schema}.list (
  name text COLLATE "C" PRIMARY KEY,
  id bigint NOT NULL,
  size integer NOT NULL,
  expires timestamptz
) WITH (fillfactor = 70);
CREATE INDEX list_expires ON ${schema}.list (expires) WHERE expires IS NOT NULL;

CREATE TABLE ${schema}.item (
  list bigint NOT NULL,
  at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (list, at),
  UNIQUE (list, name)
);

-- While a key is held, "due" is the end of its lease. "token" is null while nobody holds it.
CREATE TABLE ${schema}.work (
  queue text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  due timestamptz NOT NULL,
  token bigint,
  attempt integer NOT NULL,
  owner text,
  PRIMARY KEY (queue, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX work_due ON ${schema}.work (queue, due);

-- "removed" is the newest id that is gone, "ended" the id of the last event. "touched" is cut to minutes, so that most appends do
-- not change an index.
CREATE TABLE ${schema}.stream (
  name text COLLATE "C" PRIMARY KEY,
  id bigint NOT NULL,
  size integer NOT NULL,
  removed bigint NOT NULL,
  newest bigint NOT NULL,
  ended bigint,
  touched timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX stream_touched ON ${schema}.stream (touched);

-- "quoted" marks data that text cannot have as it is; it is kept as a JSON string.
CREATE TABLE ${schema}.event (
  stream bigint NOT NULL,
  id bigint NOT NULL,
  data text NOT NULL,
  quoted boolean NOT NULL,
  last boolean NOT NULL,
  PRIMARY KEY (stream, id)
);

-- The messages of a bus that cannot use LISTEN. A crash empties the table; the bus reports it as a gap.
CREATE UNLOGGED TABLE ${schema}.message (
  id bigint PRIMARY KEY,
  payload text NOT NULL,
  sent timestamptz NOT NULL
);
`;
}
