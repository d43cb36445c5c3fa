-- The checksum of the ledger's rows whose number is in (p_after, p_upto].
create or replace function ledger_checksum(p_after bigint, p_upto bigint) returns numeric
language sql stable set enable_seqscan = off set enable_sort = off set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(hash, requests, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost)), 0)
  from (
    select usage_hash(account_id, (at at time zone 'UTC')::date, key_id, person_id, model, client_id) as hash,
      count(*) as requests, sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens,
      sum(cached_tokens) as cached_tokens, sum(cache_write_tokens) as cache_write_tokens, sum(cost) as cost
    from ledger where number > p_after and number <= p_upto
    group by account_id, (at at time zone 'UTC')::date, key_id, person_id, model, client_id offset 0) u
$$;
