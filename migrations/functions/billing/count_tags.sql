-- Adds charges to the daily sums of their tags.
create or replace function count_tags(p_day date, p_charges timed_charge[]) returns void language sql
set search_path from current
as $$
  insert into tag_day as t (day, account_id, digest, tags, requests, input_tokens, output_tokens, cached_tokens,
      cache_write_tokens, cost)
    select p_day, account, sha256(convert_to(tags::text, 'UTF8')), tags, count(*), sum(input), sum(output),
      sum(coalesce(cached, 0)), sum(coalesce(cache_write, 0)), sum(cost)
    from unnest(p_charges) where tags is not null group by account, tags
  on conflict (account_id, day, digest) do update set
    requests = t.requests + excluded.requests, input_tokens = t.input_tokens + excluded.input_tokens,
    output_tokens = t.output_tokens + excluded.output_tokens, cached_tokens = t.cached_tokens + excluded.cached_tokens,
    cache_write_tokens = t.cache_write_tokens + excluded.cache_write_tokens, cost = t.cost + excluded.cost
$$;
