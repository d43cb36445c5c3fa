-- Writes charges to the ledger. p_number: that of the instance that appends them; null if their sums are written at once. p_terms: the terms
-- of those charges whose prices have rules, by the ids of their requests; null without any.
create or replace function write_charges(p_now timestamptz, p_number integer, p_charges timed_charge[], p_terms jsonb default null)
returns void
language sql
set search_path from current
as $$
  insert into ledger (at, request_id, account_id, key_id, person_id, model, client_id, input_tokens, output_tokens,
      input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, milliseconds,
      cached_tokens, cache_write_tokens, cached_price, cache_write_price, tags, instance, terms)
    select p_now, c.id, c.account, c.key, c.person, c.model, c.client, c.input, c.output, c.input_price,
      c.output_price, c.cost, c.stop, c.source, c.uncharged_input, c.uncharged_output, c.milliseconds,
      coalesce(c.cached, 0), coalesce(c.cache_write, 0), c.cached_price, c.cache_write_price, c.tags, p_number,
      case when p_terms is not null then p_terms -> c.id::text end
    from unnest(p_charges) c
$$;
drop function if exists write_charges(timestamptz, integer, timed_charge[]);
