-- Takes one request and p_tokens tokens from what live requests have left of the limits of an account, and of its key if that has some. A request of
-- more tokens than are ever left goes ahead when all are there, and what it lacks, a minute's worth at most, is gained before the next. Returns 0 if it took them, and otherwise
-- after how many microseconds to ask again, at least. Null: there is no such account.
create or replace function take_spare(p_account uuid, p_limit uuid, p_tokens bigint, p_now timestamptz default null) returns bigint
language plpgsql
set search_path from current
as $$
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  v_bucket record;
  v_wait bigint := 0;
  v_spares spare[] := '{}';
  v_taken bigint[] := '{}';
begin
  insert into spare (id, at, requests, tokens)
    select id, clock_timestamp(), 0, 0 from (select p_account as id union select p_limit) i where id is not null
  on conflict do nothing;
  -- In the order of their ids, so that no two wait for each other.
  perform from spare where id in (p_account, p_limit) order by id for no key update;
  v_now := coalesce(p_now, clock_timestamp());
  for v_bucket in
    select b.*, spare_of(s.requests, s.at, b.request_level, b.level_at, v_now, b.requests_per_minute, b.requests_lent) as requests,
      spare_of(s.tokens, s.at, b.token_level, b.level_at, v_now, b.tokens_per_minute, b.tokens_lent) as tokens
    from (
      select id, requests_per_minute, tokens_per_minute, request_level, token_level, level_at, requests_lent, tokens_lent
      from account where id = p_account
      union all
      select id, requests_per_minute, tokens_per_minute, request_level, token_level, level_at, requests_lent * c_unit, tokens_lent * c_unit
      from key_limit where id = p_limit
    ) b join spare s on s.id = b.id
  loop
    v_wait := greatest(v_wait, ceil((c_unit - v_bucket.requests)::numeric / v_bucket.requests_per_minute),
      ceil((least(p_tokens * c_unit, v_bucket.tokens_per_minute * 10000000::bigint) - v_bucket.tokens)::numeric / v_bucket.tokens_per_minute));
    v_spares := v_spares || row(v_bucket.id, v_now, coalesce(v_bucket.requests, 0), coalesce(v_bucket.tokens, 0))::spare;
    -- No request that is admitted has more tokens than a minute. return_spare() counts in the same way.
    v_taken := v_taken || case when v_bucket.tokens_per_minute is null then 0 else least(p_tokens, v_bucket.tokens_per_minute) end;
  end loop;
  if cardinality(v_spares) = 0 then return null; end if;
  update spare set at = s.at, requests = s.requests - case v_wait when 0 then c_unit else 0 end,
    tokens = s.tokens - case v_wait when 0 then s.taken * c_unit else 0 end
  from unnest(v_spares, v_taken) s(id, at, requests, tokens, taken) where spare.id = s.id;
  return v_wait;
end $$;
