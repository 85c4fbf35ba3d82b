// The function of the schema that makes all changes of a write in one round trip.

import { WRONG_ISOLATION } from './failures.js';

/**
 * The statement that makes the function `write_1`. It takes a lock for each place that the changes touch, in one order for all
 * processes; then it checks the lease and all conditions; then it makes the changes. The locks are advisory, because a row that does
 * not exist yet cannot be locked. A claim takes no such locks, so the row of a lease is locked too.
 *
 * Each statement in the function sees what was committed before it, so everything that is read after the locks were taken is current.
 * That is true only for READ COMMITTED.
 */
export function writeFunction(schema: string): string {
  const live = (row: string): string => `(${row}.expires IS NULL OR ${row}.expires > t)`;
  const ttl = `t + (c ->> 'ttl')::float8 * interval '1 ms'`;
  return `
CREATE FUNCTION ${schema}.write_1(
  changes jsonb, places text[], guard_queue text, guard_key text, guard_token bigint, ends_lease boolean, lock_ms integer,
  OUT refused integer, OUT held bigint
) LANGUAGE plpgsql AS $function$
#variable_conflict use_column
DECLARE
  c jsonb;
  t timestamptz;
  found_version bigint;
  found_id bigint;
  amount numeric;
  until timestamptz;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level is %, and a write needs READ COMMITTED', current_setting('transaction_isolation')
      USING ERRCODE = '${WRONG_ISOLATION}';
  END IF;
  PERFORM set_config('lock_timeout', lock_ms || 'ms', true);
  PERFORM pg_advisory_xact_lock(hashtextextended(place, hashtextextended('${schema}', 0))) FROM unnest(places) AS place;

  IF guard_token IS NOT NULL THEN
    IF ends_lease THEN
      PERFORM 1 FROM ${schema}.work w
        WHERE w.queue = guard_queue AND w.key = guard_key AND w.token = guard_token FOR UPDATE;
    ELSE
      PERFORM 1 FROM ${schema}.work w
        WHERE w.queue = guard_queue AND w.key = guard_key AND w.token = guard_token FOR SHARE;
    END IF;
    IF NOT FOUND THEN
      refused := -1;
      RETURN;
    END IF;
  END IF;

  t := clock_timestamp();

  FOR i IN 0 .. jsonb_array_length(changes) - 1 LOOP
    c := changes -> i;
    CASE c ->> 'do'
    WHEN 'put', 'delete' THEN
      IF c ? 'if' THEN
        SELECT e.version INTO found_version FROM ${schema}.entry e WHERE e.key = c ->> 'key' AND ${live('e')};
        IF found_version::text IS DISTINCT FROM c ->> 'if' THEN
          refused := i;
        END IF;
      END IF;
    WHEN 'append' THEN
      PERFORM 1 FROM ${schema}.list l JOIN ${schema}.item m ON m.list = l.id AND m.name = c ->> 'name'
        WHERE l.name = c ->> 'list' AND ${live('l')};
      IF FOUND THEN
        refused := i;
      END IF;
    WHEN 'expect' THEN
      IF (c ->> 'size')::numeric <>
        coalesce((SELECT l.size FROM ${schema}.list l WHERE l.name = c ->> 'list' AND ${live('l')}), 0) THEN
        refused := i;
      END IF;
    WHEN 'enqueue' THEN
      IF c ? 'hold' THEN
        PERFORM 1 FROM ${schema}.work w WHERE w.queue = c ->> 'queue' AND w.key = c ->> 'key';
        IF FOUND THEN
          refused := i;
        END IF;
      END IF;
    WHEN 'count' THEN
      IF c ? 'max' AND (c ->> 'by')::numeric > 0 THEN
        SELECT (e.value::json ->> 'count')::numeric INTO amount
          FROM ${schema}.entry e WHERE e.key = c ->> 'key' AND ${live('e')};
        IF coalesce(amount, 0) + (c ->> 'by')::numeric > (c ->> 'max')::numeric THEN
          refused := i;
        END IF;
      END IF;
    ELSE
      NULL;
    END CASE;
    IF refused IS NOT NULL THEN
      RETURN;
    END IF;
  END LOOP;

  FOR i IN 0 .. jsonb_array_length(changes) - 1 LOOP
    c := changes -> i;
    CASE c ->> 'do'
    WHEN 'put' THEN
      INSERT INTO ${schema}.entry AS e (key, value, version, expires)
        VALUES (c ->> 'key', c ->> 'value', nextval('${schema}.counter'), ${ttl})
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version,
          expires = CASE WHEN c ? 'ttl' THEN excluded.expires WHEN e.expires > t THEN e.expires END;
    WHEN 'count' THEN
      SELECT (e.value::json ->> 'count')::numeric, e.expires INTO amount, until
        FROM ${schema}.entry e WHERE e.key = c ->> 'key' AND ${live('e')};
      IF NOT FOUND THEN
        amount := 0;
        until := ${ttl};
      END IF;
      amount := greatest(0, amount + (c ->> 'by')::numeric);
      IF amount = 0 THEN
        DELETE FROM ${schema}.entry e WHERE e.key = c ->> 'key';
      ELSE
        INSERT INTO ${schema}.entry (key, value, version, expires)
          VALUES (c ->> 'key', '{"count":' || amount || '}', nextval('${schema}.counter'), until)
          ON CONFLICT (key) DO UPDATE
            SET value = excluded.value, version = excluded.version, expires = excluded.expires;
      END IF;
    WHEN 'delete' THEN
      DELETE FROM ${schema}.entry e WHERE e.key = c ->> 'key';
    WHEN 'append' THEN
      UPDATE ${schema}.list l SET size = l.size + 1, expires = CASE WHEN c ? 'ttl' THEN ${ttl} ELSE l.expires END
        WHERE l.name = c ->> 'list' AND ${live('l')} RETURNING l.id INTO found_id;
      IF NOT FOUND THEN
        -- The list is new, or it has expired and its items are still there.
        DELETE FROM ${schema}.list l WHERE l.name = c ->> 'list' RETURNING l.id INTO found_id;
        DELETE FROM ${schema}.item m WHERE m.list = found_id;
        found_id := nextval('${schema}.counter');
        INSERT INTO ${schema}.list (name, id, size, expires) VALUES (c ->> 'list', found_id, 1, ${ttl});
      END IF;
      INSERT INTO ${schema}.item (list, at, name, value)
        VALUES (found_id, nextval('${schema}.counter'), c ->> 'name', c ->> 'value');
    WHEN 'drop' THEN
      DELETE FROM ${schema}.list l WHERE l.name = c ->> 'list' RETURNING l.id INTO found_id;
      IF FOUND THEN
        DELETE FROM ${schema}.item m WHERE m.list = found_id;
      END IF;
    WHEN 'expect' THEN
      NULL;
    WHEN 'enqueue' THEN
      IF c ? 'hold' THEN
        held := nextval('${schema}.counter');
        INSERT INTO ${schema}.work (queue, key, due, token, attempt, owner)
          VALUES (c ->> 'queue', c ->> 'key', t + (c ->> 'hold')::float8 * interval '1 ms', held, 1, c ->> 'owner');
      ELSE
        -- The row of a key that is held stays as it is, but it is locked: the holder cannot release it before this write is done.
        INSERT INTO ${schema}.work AS w (queue, key, due, attempt)
          VALUES (c ->> 'queue', c ->> 'key', t + (c ->> 'in')::float8 * interval '1 ms', 0)
          ON CONFLICT (queue, key) DO UPDATE SET due = least(w.due, excluded.due) WHERE w.token IS NULL;
      END IF;
    WHEN 'release' THEN
      UPDATE ${schema}.work w SET token = NULL, owner = NULL, due = t + (c ->> 'in')::float8 * interval '1 ms',
        attempt = CASE WHEN c ? 'keep' THEN w.attempt ELSE 0 END
        WHERE w.queue = guard_queue AND w.key = guard_key;
    WHEN 'dequeue' THEN
      DELETE FROM ${schema}.work w WHERE w.queue = c ->> 'queue' AND w.key = c ->> 'key';
    END CASE;
  END LOOP;
END
$function$;
`;
}
