-- Releases the holds and allowances of a dead instance, of accounts, keys and budgets, uncharged, adds what it has charged to the sums, and
-- removes it. p_last_batch is the last batch that the caller has seen of it: if the instance has sent another since, it lives. The tokens
-- of the released requests are not returned to the buckets, since it is unknown how many were used. They refill within the minute.
-- Returns whether the instance was reaped.
create or replace function reap(p_instance uuid, p_last_batch bigint) returns boolean language plpgsql set search_path from current as $$
begin
  perform from instance where id = p_instance and last_batch = p_last_batch for update skip locked;
  if not found then return false; end if;
  perform fold_charges(array[p_instance], array(
    select account_id from hold where instance_id = p_instance
    union select account_id from allowance where instance_id = p_instance
    union select account_id from key_limit join key_allowance on limit_id = key_limit.id where instance_id = p_instance
    union select account_id from budget join budget_allowance on budget_id = budget.id where instance_id = p_instance));
  with gone as (
    delete from hold where instance_id = p_instance returning *
  ), of_keys as (
    delete from key_allowance where instance_id = p_instance returning *
  ), limited as (
    update key_limit l set held = l.held - g.held, credit_lent = l.credit_lent - g.credit,
      requests_lent = l.requests_lent - g.requests, tokens_lent = l.tokens_lent - g.tokens
    from (
      select limit_id, sum(held) as held, sum(credit) as credit, sum(requests) as requests, sum(tokens) as tokens from (
        select limit_id, cost as held, 0 as credit, 0 as requests, 0 as tokens from gone join api_key on api_key.id = key_id
        union all select limit_id, held, credit, requests, tokens from of_keys) each group by limit_id
    ) g where l.id = g.limit_id
  ), tagged as (
    delete from tagged_hold using gone where hold_id = gone.id returning hold_id, tags
  ), of_budgets as (
    delete from budget_allowance where instance_id = p_instance returning *
  ), budgeted as (
    update budget b set held = b.held - g.held, credit_lent = b.credit_lent - g.credit
    from (
      select budget_id, sum(held) as held, sum(credit) as credit from (
        select o.id as budget_id, cost as held, 0 as credit from gone left join tagged on hold_id = gone.id
          cross join lateral budgets_of(account_id, key_id, tags) o (id)
        union all select budget_id, held, credit from of_budgets) each group by budget_id
    ) g where b.id = g.budget_id
  ), freed as (
    delete from idempotency using gone
    where idempotency.account_id = gone.account_id and idempotency.key = gone.idempotency_key
      and hold_id = gone.id
  ), returned as (
    delete from allowance where instance_id = p_instance returning *
  )
  update account set held = account.held - g.held, credit_lent = credit_lent - g.credit,
    requests_lent = requests_lent - g.requests, tokens_lent = tokens_lent - g.tokens
  from (
    select account_id, sum(held) as held, sum(credit) as credit, sum(requests) as requests, sum(tokens) as tokens from (
      select account_id, cost as held, 0 as credit, 0 as requests, 0 as tokens from gone
      union all select account_id, held, credit, requests, tokens from returned) each group by account_id
  ) g where account.id = g.account_id;
  delete from instance where id = p_instance;
  return true;
end $$;
