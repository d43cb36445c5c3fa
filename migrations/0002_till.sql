-- The till: the one place where money is held and charged and where limits are applied.
--
-- One call carries everything that one instance has to settle and to admit, in one transaction. It locks first the
-- instance's row, and so everything that this instance holds, then the accounts of the batch in id order; reap() does
-- the same, so that they cannot deadlock. Every item is safe to send again after a lost connection: an admission by the
-- id of its hold, a settlement by the ledger row with that id. tests/support/till-model.ts states the same rules in
-- TypeScript, and a property test holds the two against each other.

-- What one call changes in one account.
create type account_change as (
  id uuid, charged numeric, held numeric, request_level bigint, token_level bigint, level_at timestamptz);

-- Settles, then admits, in the order given. p_now is for tests; the till itself leaves it null.
--
-- p_settle: [{hold, input, output, stop, source, headers?, body?}]; without stop the hold is released uncharged.
-- p_admit:  [{hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests, again}];
--           without model nothing is held: only the requests (0 or 1) are taken from the limit. again: it was sent
--           before, and nobody knows whether it was carried out.
-- Outcomes: settled, released, and no row at all where the hold had been given up; admitted, no_billing_account,
--           insufficient_credit, credit_held, requests, tokens, never_fits, replay, in_progress, mismatch.
create function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, outcome text, request_level bigint, token_level bigint, requests_per_minute integer,
               tokens_per_minute integer, wait_us bigint, cost amount, headers jsonb, body text)
language plpgsql
-- The tables it works on are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  v_month date;
  v_passed bigint;
  v_account uuid;
  v_request_most bigint;
  v_token_most bigint;
  v_credit numeric; -- without what is held
  v_held numeric;
  v_charge numeric;
  v_hold numeric;
  v_level_at timestamptz;
  x record;
  i idempotency;
  v_need bigint;
  v_cost numeric;
  v_gone integer := 0;
  v_ledger ledger[] := '{}';
  v_holds hold[] := '{}';
  v_accounts account_change[] := '{}';
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % is given up or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;

  -- Account by account, locked in the order of their ids; of each first what it settles, then what it asks for, in the
  -- order given. The loop decides in memory; but for idempotency keys, what it decided is written after it, at once.
  for x in
    with gone as (
      delete from hold using jsonb_to_recordset(p_settle) as s(
        hold uuid, input integer, output integer, stop text, source text, headers jsonb, body text)
      where hold.id = s.hold
      returning hold.*, s.input, s.output, s.stop, s.source, s.headers, s.body
    ), item as (
      select true as settles, 0::bigint as n, gone.id as hold, account_id as account, key_id as key, model,
        client_id as client, input_tokens::bigint + max_output_tokens as most, input, output, input_price, output_price,
        cost as held, idempotency_key as idem, null as hash, 0 as requests, false as earlier, stop, source, headers, body
      from gone
      union all
      select false, n, hold, account, key, model, client, null, input, output, input_price, output_price, null, idem,
        hash, requests,
        -- Admitted by an earlier call whose answer was lost on its way.
        case when again then exists (select from hold where hold.id = s.hold)
          and not exists (select from jsonb_array_elements(p_settle) e where (e ->> 'hold')::uuid = s.hold) end,
        null, null, null, null
      from rows from (jsonb_to_recordset(p_admit) as (
        hold uuid, account uuid, key uuid, model text, client uuid, input integer, output integer, input_price bigint,
        output_price bigint, idem text, hash text, requests integer, again boolean)) with ordinality as s(
        hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests, again, n)
    ), b as (
      select account.* from account where account.id in (select account from item) order by account.id for no key update
    )
    select item.*, b.status, b.requests_per_minute, b.tokens_per_minute, b.monthly_limit, b.month, b.month_charged,
      b.credited - b.charged as balance, b.held as held_before, b.request_level, b.token_level, b.level_at
    from item left join b on b.id = item.account
    order by item.account, settles desc, n
  loop
    if v_now is null then
      v_now := coalesce(p_now, clock_timestamp());
      v_month := date_trunc('month', v_now at time zone 'UTC')::date;
    end if;
    if v_account is distinct from x.account then
      if v_request_most is not null then
        v_accounts := v_accounts
          || row(v_account, v_charge, v_hold, request_level, token_level, v_level_at)::account_change;
      end if;
      -- The buckets brought up to now, and the month turned if a new one has begun.
      v_account := x.account;
      requests_per_minute := x.requests_per_minute;
      tokens_per_minute := x.tokens_per_minute;
      v_request_most := x.requests_per_minute * c_unit;
      v_token_most := x.tokens_per_minute * c_unit;
      v_passed := least(60000000, greatest(0, (extract(epoch from v_now - x.level_at) * 1000000)::bigint));
      request_level := least(v_request_most, x.request_level + v_passed * x.requests_per_minute);
      token_level := least(v_token_most, x.token_level + v_passed * x.tokens_per_minute);
      v_level_at := greatest(x.level_at, v_now);
      v_credit := coalesce(x.monthly_limit - case when x.month < v_month then 0 else x.month_charged end, x.balance);
      v_held := x.held_before;
      v_charge := 0;
      v_hold := 0;
    end if;
    id := x.hold;
    wait_us := null;
    headers := null;
    body := null;
    v_cost := x.input::numeric * x.input_price + x.output::numeric * x.output_price;
    cost := v_cost;

    if x.settles then
      v_gone := v_gone + 1;
      v_need := x.most;
      if x.stop is null then
        outcome := 'released';
        cost := 0;
      else
        outcome := 'settled';
        v_need := v_need - x.input - x.output;
        v_charge := v_charge + v_cost;
        v_credit := v_credit - v_cost;
        v_ledger := v_ledger || row(v_now, x.hold, x.account, x.key, x.model, x.client, x.input, x.output,
          x.input_price, x.output_price, v_cost, x.stop, x.source)::ledger;
      end if;
      v_hold := v_hold - x.held;
      v_held := v_held - x.held;
      token_level := greatest(0, least(v_token_most, token_level + v_need * c_unit));
      if x.idem is null then
        null;
      elsif x.body is null then
        delete from idempotency where account_id = x.account and key = x.idem and hold_id = x.hold;
      else
        update idempotency set headers = x.headers, body = x.body
          where account_id = x.account and key = x.idem and hold_id = x.hold;
      end if;

    else
      v_need := (x.input::bigint + x.output) * c_unit;
      i := null;
      if x.idem is not null then
        select * into i from idempotency
          where account_id = x.account and key = x.idem and created_at > v_now - interval '24 hours';
      end if;
      outcome := case
        when x.status is distinct from 'open' then 'no_billing_account'
        when x.earlier then 'admitted'
        when i.request_hash <> x.hash then 'mismatch'
        when i.body is not null then 'replay'
        when i.hold_id is not null then 'in_progress'
        when v_need > v_token_most then 'never_fits'
        when v_cost > v_credit then 'insufficient_credit'
        when v_cost > v_credit - v_held then 'credit_held'
        when request_level < x.requests * c_unit then 'requests'
        when token_level < v_need then 'tokens'
        else 'taken'
      end;
      if outcome = 'taken' then
        outcome := 'admitted';
        request_level := request_level - x.requests * c_unit;
        token_level := token_level - v_need;
        if x.model is not null then
          v_hold := v_hold + v_cost;
          v_held := v_held + v_cost;
          v_holds := v_holds || row(x.hold, x.account, x.key, p_instance, x.model, x.client, x.input, x.output,
            x.input_price, x.output_price, v_cost, x.idem, v_now)::hold;
        end if;
        if x.idem is not null then
          insert into idempotency values (x.account, x.idem, x.hash, x.hold, v_now)
          on conflict (account_id, key) do update set request_hash = excluded.request_hash,
            hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
        end if;
      elsif outcome = 'replay' then
        headers := i.headers;
        body := i.body;
      elsif outcome in ('requests', 'tokens') then
        -- Until neither limit refuses it.
        wait_us := greatest(ceil((x.requests * c_unit - request_level)::numeric / requests_per_minute),
                            ceil((v_need - token_level)::numeric / tokens_per_minute));
      end if;
    end if;
    return next;
  end loop;
  if v_request_most is not null then
    v_accounts := v_accounts
      || row(v_account, v_charge, v_hold, request_level, token_level, v_level_at)::account_change;
  end if;

  if v_gone < jsonb_array_length(p_settle) then
    -- Those settled by an earlier call whose answer was lost on its way.
    return query
    select l.request_id, 'settled', b.request_level, b.token_level, b.requests_per_minute, b.tokens_per_minute,
      null::bigint, l.cost, null::jsonb, null::text
    from jsonb_array_elements(p_settle) s
    join ledger l on l.request_id = (s ->> 'hold')::uuid and l.at > coalesce(p_now, clock_timestamp()) - interval '1 day'
    join account b on b.id = l.account_id;
  end if;
  with charged as (
    insert into ledger select * from unnest(v_ledger)
  ), counted as (
    insert into usage_day as u
      select (v_now at time zone 'UTC')::date, account_id, key_id, model, client_id, count(*), sum(input_tokens),
        sum(output_tokens), sum(cost)
      from unnest(v_ledger) group by account_id, key_id, model, client_id
    on conflict (account_id, day, key_id, model, client_id) do update set
      requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens, cost = u.cost + excluded.cost
  ), holding as (
    insert into hold select * from unnest(v_holds)
  )
  update account set charged = account.charged + t.charged, held = account.held + t.held,
    month = greatest(month, v_month),
    month_charged = case when month < v_month then 0 else month_charged end + t.charged,
    request_level = t.request_level, token_level = t.token_level, level_at = t.level_at
  from unnest(v_accounts) t where account.id = t.id;
end $$;

-- Gives up one instance that has not been heard of for p_lease: its holds are released uncharged. Tokens taken from
-- the limits are not given back, since nobody knows how many were used; they refill within the minute.
-- Returns the instance, or null when every one of them lives.
create function reap(p_lease interval) returns uuid language plpgsql as $$
declare
  v_instance uuid;
begin
  select id into v_instance from instance where seen_at < clock_timestamp() - p_lease
    order by seen_at limit 1 for update skip locked;
  if v_instance is null then return null; end if;
  perform 1 from account where id in (select account_id from hold where instance_id = v_instance)
    order by id for no key update;
  with gone as (
    delete from hold where instance_id = v_instance returning *
  ), forgotten as (
    delete from idempotency using gone
    where idempotency.account_id = gone.account_id and idempotency.key = gone.idempotency_key
      and hold_id = gone.id
  )
  update account set held = account.held - g.held
  from (select account_id, sum(cost) as held from gone group by account_id) g where account.id = g.account_id;
  delete from instance where id = v_instance;
  return v_instance;
end $$;
