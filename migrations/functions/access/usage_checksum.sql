-- The share of one roll-up in roll_up_checksum() and ledger_checksum(). Tokens of caches count only where there are any, so that older
-- seals still match.
create or replace function usage_checksum(p_hash bytea, p_requests numeric, p_input_tokens numeric, p_output_tokens numeric,
  p_cached_tokens numeric, p_cache_write_tokens numeric, p_cost numeric)
returns numeric language sql immutable
return hash_part(p_hash, 0) * p_requests + hash_part(p_hash, 1) * p_input_tokens + hash_part(p_hash, 2) * p_output_tokens
  + hash_part(p_hash, 3) * p_cost + case when p_cached_tokens = 0 and p_cache_write_tokens = 0 then 0
    else hash_part(sha256(p_hash), 0) * p_cached_tokens + hash_part(sha256(p_hash), 1) * p_cache_write_tokens end;
-- That of version 0.2.0.
drop function if exists usage_checksum(bytea, numeric, numeric, numeric, numeric);
