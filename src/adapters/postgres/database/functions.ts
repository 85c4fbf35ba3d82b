// The other functions of the schema: events, messages, and the removal of what has expired.

/** The statements that make the functions. The number in a name changes when the function does, so that old processes keep theirs. */
export function functions(schema: string): string {
  return [appendEvent, publish, sweep].map((each) => each(schema)).join('');
}

/**
 * Appends an event. The row of the stream is locked before the id is taken, so that events become visible in the order of their
 * ids. A stream that was removed and made again has greater ids than before; the older ones count as removed.
 */
function appendEvent(schema: string): string {
  return `
CREATE FUNCTION ${schema}.append_1(
  stream_name text, data text, quoted boolean, is_last boolean, most integer, lock_ms integer, OUT event_id bigint
) LANGUAGE plpgsql AS $function$
#variable_conflict use_variable
DECLARE
  fresh bigint := nextval('${schema}.counter');
  found_id bigint;
  found_size integer;
BEGIN
  PERFORM set_config('lock_timeout', lock_ms || 'ms', true);
  INSERT INTO ${schema}.stream AS s (name, id, size, removed, newest, touched)
    VALUES (stream_name, fresh, 1, fresh, nextval('${schema}.counter'), date_trunc('minute', clock_timestamp()))
    ON CONFLICT (name) DO UPDATE SET size = s.size + 1, newest = nextval('${schema}.counter'), touched = excluded.touched
    RETURNING s.id, s.newest, s.size INTO found_id, event_id, found_size;
  INSERT INTO ${schema}.event (stream, id, data, quoted, last) VALUES (found_id, event_id, data, quoted, is_last);
  IF is_last THEN
    UPDATE ${schema}.stream s SET ended = event_id WHERE s.name = stream_name;
  END IF;
  -- A full stream loses several events at once, so that not every append has to remove one.
  IF found_size > most + most / 8 THEN
    WITH oldest AS (SELECT e.id FROM ${schema}.event e WHERE e.stream = found_id ORDER BY e.id LIMIT found_size - most),
      gone AS (DELETE FROM ${schema}.event e USING oldest o WHERE e.stream = found_id AND e.id = o.id RETURNING e.id)
    UPDATE ${schema}.stream s SET size = most, removed = (SELECT max(g.id) FROM gone g) WHERE s.name = stream_name;
  END IF;
END
$function$;
`;
}

/** Keeps messages for processes that poll. The lock is taken before the ids, so that messages become visible in order. */
function publish(schema: string): string {
  return `
CREATE FUNCTION ${schema}.publish_1(payloads text[], lock_ms integer) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM set_config('lock_timeout', lock_ms || 'ms', true);
  -- The table does not survive a crash anyway.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.message', 0));
  INSERT INTO ${schema}.message (id, payload, sent)
    SELECT nextval('${schema}.counter'), p.payload, clock_timestamp()
      FROM unnest(payloads) WITH ORDINALITY AS p (payload, n) ORDER BY p.n;
END
$function$;
`;
}

/**
 * Removes a part of what has expired, and returns the number of rows. One process does it at a time; rows that others have locked
 * are left for the next time.
 */
function sweep(schema: string): string {
  return `
CREATE FUNCTION ${schema}.sweep_1(most integer, stream_ms float8, message_ms float8) RETURNS integer
LANGUAGE plpgsql AS $function$
DECLARE
  now timestamptz := statement_timestamp();
  room integer := most;
  removed integer;
  expired record;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended('${schema}.sweep', 0)) THEN
    RETURN 0;
  END IF;

  DELETE FROM ${schema}.entry e USING (
    SELECT key FROM ${schema}.entry WHERE expires <= now ORDER BY expires LIMIT room FOR UPDATE SKIP LOCKED
  ) old WHERE e.key = old.key;
  GET DIAGNOSTICS removed = ROW_COUNT;
  room := room - removed;

  -- The items go first: a list that has more of them than there is room for keeps its row, and the next time removes the rest.
  FOR expired IN SELECT name, id FROM ${schema}.list WHERE expires <= now
    ORDER BY expires LIMIT room FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN room <= 0;
    DELETE FROM ${schema}.item m USING (
      SELECT at FROM ${schema}.item WHERE list = expired.id ORDER BY at LIMIT room
    ) old WHERE m.list = expired.id AND m.at = old.at;
    GET DIAGNOSTICS removed = ROW_COUNT;
    room := room - removed;
    IF room > 0 THEN
      DELETE FROM ${schema}.list l WHERE l.name = expired.name;
      room := room - 1;
    END IF;
  END LOOP;

  FOR expired IN SELECT name, id FROM ${schema}.stream
    WHERE touched <= now - stream_ms * interval '1 ms' - interval '1 minute'
    ORDER BY touched LIMIT greatest(room, 0) FOR UPDATE SKIP LOCKED LOOP
    EXIT WHEN room <= 0;
    DELETE FROM ${schema}.event e WHERE e.stream = expired.id;
    GET DIAGNOSTICS removed = ROW_COUNT;
    room := room - removed - 1;
    DELETE FROM ${schema}.stream s WHERE s.name = expired.name;
  END LOOP;

  DELETE FROM ${schema}.message m USING (
    SELECT id FROM ${schema}.message WHERE sent <= now - message_ms * interval '1 ms' ORDER BY id LIMIT most
  ) old WHERE m.id = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;

  RETURN most - room + removed;
END
$function$;
`;
}
