-- The checksum of the roll-ups.
create or replace function roll_up_checksum() returns numeric
language sql stable set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(hash, requests, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost)), 0)
  from (
    select usage_hash(account_id, day, key_id, person_id, model, client_id) as hash, requests, input_tokens, output_tokens,
      cached_tokens, cache_write_tokens, cost
    from usage_day offset 0) u
$$;
