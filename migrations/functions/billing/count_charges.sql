-- Adds charges to the sums of their days and of their tags.
create or replace function count_charges(p_sums charge_sum[]) returns void
language plpgsql
set search_path from current
as $$
begin
  insert into usage_day as u
      (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost)
    select day, account, key, person, model, client, sum(requests), sum(input), sum(output), sum(cached), sum(cache_write), sum(cost)
    from unnest(p_sums) group by day, account, key, person, model, client
  on conflict (account_id, day, key_id, person_id, model, client_id) do update set
    requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
    output_tokens = u.output_tokens + excluded.output_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
    cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens, cost = u.cost + excluded.cost;
  if exists (select from unnest(p_sums) s where s.tags is not null) then
    insert into tag_day as t (day, account_id, digest, tags, requests, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, cost)
      select day, account, sha256(convert_to(tags::text, 'UTF8')), tags, sum(requests), sum(input), sum(output), sum(cached),
        sum(cache_write), sum(cost)
      from unnest(p_sums) where tags is not null group by day, account, tags
    on conflict (account_id, day, digest) do update set
      requests = t.requests + excluded.requests, input_tokens = t.input_tokens + excluded.input_tokens,
      output_tokens = t.output_tokens + excluded.output_tokens, cached_tokens = t.cached_tokens + excluded.cached_tokens,
      cache_write_tokens = t.cache_write_tokens + excluded.cache_write_tokens, cost = t.cost + excluded.cost;
  end if;
end $$;
