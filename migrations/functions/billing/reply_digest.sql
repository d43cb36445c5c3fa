-- The digest of a stored reply, by which `verify` recognises it.
create or replace function reply_digest(p_row idempotency) returns bytea language sql immutable set search_path from current as $$
  select sha256(convert_to(row(p_row.account_id, p_row.key, p_row.request_hash, p_row.hold_id, p_row.headers, p_row.body)::text, 'UTF8'))
$$;
