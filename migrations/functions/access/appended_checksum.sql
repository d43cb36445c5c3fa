-- The checksum of the ledger's rows that are in no roll-up yet.
create or replace function appended_checksum() returns numeric
language sql stable set enable_seqscan = off set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(usage_hash(account_id, (at at time zone 'UTC')::date, key_id, person_id, model, client_id), 1,
    input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost)), 0)
  from appended_charges()
$$;
