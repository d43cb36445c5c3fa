-- Tokens that a vendor's prompt cache saves are counted apart: input tokens are those that were neither read from the cache nor
-- written to it. Where a kind has no price of its own (null), it is charged as input.

alter table price
  add column cached_input bigint,
  add column cache_write bigint,
  add constraint cached_costs_no_more check (cached_input between 0 and input),
  add constraint cache_write_is_price check (cache_write >= 0);

alter table hold
  add column cached_price bigint,
  add column cache_write_price bigint;

alter table usage_day
  add column cached_tokens bigint not null default 0,
  add column cache_write_tokens bigint not null default 0;

-- What tokens of the four kinds cost, in 10⁻¹² of the currency unit.
create function tokens_cost(p_input bigint, p_output bigint, p_cached bigint, p_cache_write bigint, p_input_price bigint,
  p_output_price bigint, p_cached_price bigint, p_cache_write_price bigint) returns numeric language sql immutable
return p_input::numeric * p_input_price + p_output::numeric * p_output_price
  + p_cached::numeric * coalesce(p_cached_price, p_input_price)
  + p_cache_write::numeric * coalesce(p_cache_write_price, p_input_price);

-- uncharged_input counts the three kinds of input together. The rows that are there meet the new constraint, because they met the
-- old one: 0034_validate_ledger.sql reads them without stopping the till.
alter table ledger
  add column cached_tokens integer not null default 0,
  add column cache_write_tokens integer not null default 0,
  add column cached_price bigint,
  add column cache_write_price bigint,
  drop constraint ledger_is_valid,
  add constraint ledger_is_valid check (input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0
    and cache_write_tokens >= 0 and uncharged_input >= 0 and uncharged_output >= 0 and (key_id is null) <> (person_id is null)
    and cost = input_tokens::numeric * input_price + output_tokens::numeric * output_price
      + cached_tokens::numeric * coalesce(cached_price, input_price)
      + cache_write_tokens::numeric * coalesce(cache_write_price, input_price)) not valid;

-- A request that ended and is charged. The last four columns are null if the request has no such tokens and no such prices.
create type timed_charge as (
  id uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
  input_price bigint, output_price bigint, cost numeric, stop text, source usage_source, uncharged_input integer,
  uncharged_output integer, milliseconds integer, cached integer, cache_write integer, cached_price bigint,
  cache_write_price bigint);

-- How much of a request's tokens can be charged with p_credit and p_tokens; input counts its three kinds together. The
-- prompt's tokens are charged in the order input, cache write, cached, and the output after them. As many of both as were
-- held are always charged. Then follow further tokens of the prompt, up to the first that is not covered, and then further
-- output. So output is cut first, then cached tokens, then tokens of cache writes, and input last.
drop function chargeable(integer, integer, integer, integer, bigint, bigint, numeric, bigint);
create function chargeable(p_input integer, p_output integer, p_cached integer, p_cache_write integer, p_held_input integer,
  p_held_output integer, p_input_price bigint, p_output_price bigint, p_cached_price bigint, p_cache_write_price bigint,
  p_credit numeric, p_tokens bigint, out input integer, out output integer)
language plpgsql immutable
set search_path from current
as $$
declare
  c_ends constant bigint[] := array[p_input, p_input::bigint + p_cache_write, p_input::bigint + p_cache_write + p_cached];
  c_prices constant bigint[] := array[p_input_price, coalesce(p_cache_write_price, p_input_price),
    coalesce(p_cached_price, p_input_price)];
  v_tokens bigint;
  v_credit numeric;
  v_more bigint;
begin
  input := least(c_ends[3], p_held_input);
  output := least(p_output, p_held_output);
  v_tokens := p_tokens - input - output;
  v_credit := p_credit - tokens_cost(least(input, p_input), output, greatest(0, input - c_ends[2]),
    greatest(0, least(p_cache_write, input - p_input)), p_input_price, p_output_price, p_cached_price, p_cache_write_price);
  for i in 1 .. 3 loop
    continue when input >= c_ends[i];
    v_more := least(v_tokens, c_ends[i] - input, div(v_credit, nullif(c_prices[i], 0)));
    input := input + v_more;
    v_tokens := v_tokens - v_more;
    v_credit := v_credit - v_more::numeric * c_prices[i];
    exit when input < c_ends[i];
  end loop;
  output := output + least(v_tokens, p_output - output, div(v_credit, nullif(p_output_price, 0)));
end $$;

-- As in 0016_usage.sql, but an item of p_settle may also have cached and cache_write, two more kinds of tokens, and an item of
-- p_admit their prices, cached_price and cache_write_price. The hold prices every input token at the highest price of its
-- three kinds, whichever it turns out to be. In the result charged_input counts the three kinds of input together: see
-- chargeable().
create or replace function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, of_account uuid, outcome text, request_level bigint, token_level bigint,
               requests_per_minute per_minute, tokens_per_minute per_minute, lent boolean, wait_us bigint, cost amount,
               charged_input integer, charged_output integer, original uuid, headers jsonb, body text)
language plpgsql
-- Its tables are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
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
  v_token_room bigint;
  v_credit numeric; -- without what is held
  v_held numeric;
  v_charge numeric;
  v_hold numeric;
  v_month_before numeric; -- charged this month before this call
  x record;
  i idempotency;
  v_need bigint;
  v_cost numeric;
  v_gone integer := 0;
  v_input bigint; -- of all three kinds
  v_uncharged_output integer;
  v_charges timed_charge[] := '{}';
  v_holds hold[] := '{}';
  v_accounts account_change[] := '{}';
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % was reaped, or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;

  -- Locks the accounts in id order. Processes each account's settlements, then its admissions, in the order given. The
  -- loop decides in memory and writes only idempotency keys; one statement after it writes the rest.
  for x in
    with gone as (
      delete from hold using rows from (jsonb_to_recordset(p_settle) as (
        hold uuid, input integer, output integer, cached integer, cache_write integer, stop text, source text,
        milliseconds integer, headers jsonb, body text))
        with ordinality as s(hold, input, output, cached, cache_write, stop, source, milliseconds, headers, body, n)
      where hold.id = s.hold
      returning hold.*, s.input, s.output, coalesce(s.cached, 0) as cached,
        coalesce(s.cache_write, 0) as cache_write, s.stop, s.source, s.milliseconds, s.headers, s.body, s.n
    ), item as (
      select true as settles, n, gone.id as hold, account_id as account, key_id as key, person_id as person, model,
        client_id as client, input_tokens as held_input, max_output_tokens as held_output, input, output, cached,
        cache_write, input_price, output_price, cached_price, cache_write_price, cost as held,
        idempotency_key as idem, null as hash, 0 as requests, false as earlier, stop, source, milliseconds, headers, body
      from gone
      union all
      select false, n, hold, account, key, person, model, client, null, null, input, output, 0, 0, input_price,
        output_price, cached_price, cache_write_price, null, idem, hash, requests,
        -- Admitted by an earlier call whose answer was lost.
        case when again then exists (select from hold where hold.id = s.hold)
          and not exists (select from jsonb_array_elements(p_settle) e where (e ->> 'hold')::uuid = s.hold) end,
        null, null, null, null, null
      from rows from (jsonb_to_recordset(p_admit) as (
        hold uuid, account uuid, key uuid, person uuid, model text, client uuid, input integer, output integer,
        input_price bigint, output_price bigint, cached_price bigint, cache_write_price bigint, idem text, hash text, requests integer,
        again boolean)) with ordinality as s(hold, account, key, person, model, client, input, output, input_price,
        output_price, cached_price, cache_write_price, idem, hash, requests, again, n)
    ), b as (
      select account.* from account where account.id in (select account from item) order by account.id for no key update
    )
    select item.*, b.status, b.requests_per_minute, b.tokens_per_minute, b.monthly_limit, b.month, b.month_charged,
      b.credited - b.charged as balance, b.held + b.credit_lent as held_before, b.credit_lent,
      b.requests_lent, b.tokens_lent, b.request_level,
      b.token_level, b.level_at
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
          || row(v_account, v_charge, v_hold, v_month_before, request_level, token_level)::account_change;
      end if;
      -- Refills the buckets, and changes the month if the clock has.
      v_account := x.account;
      of_account := x.account;
      lent := x.requests_lent > 0 or x.tokens_lent > 0 or x.credit_lent > 0;
      requests_per_minute := x.requests_per_minute;
      tokens_per_minute := x.tokens_per_minute;
      v_request_most := x.requests_per_minute * c_unit;
      v_token_most := x.tokens_per_minute * c_unit;
      v_passed := least(60000000, greatest(0, (extract(epoch from v_now - x.level_at) * 1000000)::bigint));
      v_token_room := greatest(0, v_token_most - x.tokens_lent);
      request_level := least(greatest(0, v_request_most - x.requests_lent),
        x.request_level + v_passed * x.requests_per_minute);
      token_level := least(v_token_room, x.token_level + v_passed * x.tokens_per_minute);
      v_month_before := x.month_charged;
      if x.month <> v_month then
        v_month_before := charged_since(x.account, v_month);
      end if;
      v_credit := coalesce(x.monthly_limit - v_month_before, x.balance);
      v_held := x.held_before;
      v_charge := 0;
      v_hold := 0;
    end if;
    id := x.hold;
    wait_us := null;
    charged_input := null;
    charged_output := null;
    original := null;
    headers := null;
    body := null;
    if x.settles then
      v_input := x.input::bigint + x.cached + x.cache_write;
      v_cost := tokens_cost(x.input, x.output, x.cached, x.cache_write, x.input_price, x.output_price, x.cached_price,
        x.cache_write_price);
    else
      v_cost := x.input::numeric * greatest(x.input_price, x.cached_price, x.cache_write_price)
        + x.output::numeric * x.output_price;
    end if;
    cost := v_cost;

    if x.settles then
      v_gone := v_gone + 1;
      v_need := x.held_input::bigint + x.held_output;
      if x.stop is null then
        outcome := 'released';
        cost := 0;
      else
        outcome := 'settled';
        charged_input := v_input;
        charged_output := x.output;
        v_uncharged_output := 0;
        if v_cost > x.held or v_input + x.output > v_need then
          select c.input, c.output into charged_input, charged_output
            from chargeable(x.input, x.output, x.cached, x.cache_write, x.held_input, x.held_output, x.input_price,
              x.output_price, x.cached_price, x.cache_write_price, x.held + greatest(0, v_credit - v_held),
              v_need + token_level / c_unit) c;
          v_uncharged_output := x.output - charged_output;
          x.output := charged_output;
          x.cached := greatest(0, charged_input - x.input - x.cache_write);
          x.cache_write := greatest(0, least(x.cache_write, charged_input - x.input));
          x.input := least(x.input, charged_input);
          v_cost := tokens_cost(x.input, x.output, x.cached, x.cache_write, x.input_price, x.output_price,
            x.cached_price, x.cache_write_price);
          cost := v_cost;
        end if;
        v_need := v_need - charged_input - charged_output;
        v_charge := v_charge + v_cost;
        v_credit := v_credit - v_cost;
        v_charges := v_charges || row(x.hold, x.account, x.key, x.person, x.model, x.client, x.input, x.output,
          x.input_price, x.output_price, v_cost, x.stop, x.source, v_input - charged_input, v_uncharged_output, x.milliseconds,
          x.cached, x.cache_write, x.cached_price, x.cache_write_price)::timed_charge;
      end if;
      v_hold := v_hold - x.held;
      v_held := v_held - x.held;
      token_level := greatest(0, least(v_token_room, token_level + v_need * c_unit));
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
        when x.earlier then 'admitted'
        when x.status is distinct from 'open' then 'no_billing_account'
        when i.request_hash <> x.hash then 'mismatch'
        when i.body is not null then 'replay'
        when i.hold_id is not null then 'in_progress'
        when v_need > v_token_most then 'never_fits'
        -- A request that costs nothing needs no credit, even where the credit is below zero.
        when v_cost > greatest(0, v_credit) then 'insufficient_credit'
        when v_cost > greatest(0, v_credit - v_held) then 'credit_held'
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
          v_holds := v_holds || row(x.hold, x.account, x.key, x.person, p_instance, x.model, x.client, x.input, x.output,
            x.input_price, x.output_price, v_cost, x.idem, v_now, x.cached_price, x.cache_write_price)::hold;
        end if;
        if x.idem is not null then
          insert into idempotency (account_id, key, request_hash, hold_id, created_at)
            values (x.account, x.idem, x.hash, x.hold, v_now)
          on conflict (account_id, key) do update set request_hash = excluded.request_hash,
            hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
        end if;
      elsif outcome = 'replay' then
        original := i.hold_id;
        headers := i.headers;
        body := i.body;
      elsif outcome in ('requests', 'tokens') then
        -- When both limits will admit it.
        wait_us := greatest(ceil((x.requests * c_unit - request_level)::numeric / requests_per_minute),
                            ceil((v_need - token_level)::numeric / tokens_per_minute));
      end if;
      if lent and outcome in ('credit_held', 'requests', 'tokens') then
        update account set recalled_at = v_now where account.id = x.account;
      end if;
    end if;
    return next;
  end loop;
  if v_request_most is not null then
    v_accounts := v_accounts
      || row(v_account, v_charge, v_hold, v_month_before, request_level, token_level)::account_change;
  end if;

  if v_gone < jsonb_array_length(p_settle) then
    -- Settled by an earlier call whose answer was lost. Without a bound on the time, since the clock may have moved.
    return query
    select l.request_id, l.account_id, 'settled', b.request_level, b.token_level, b.requests_per_minute,
      b.tokens_per_minute, false, null::bigint, l.cost,
      l.input_tokens + l.cached_tokens + l.cache_write_tokens, l.output_tokens, null::uuid, null::jsonb, null::text
    from jsonb_array_elements(p_settle) s
    join ledger l on l.request_id = (s ->> 'hold')::uuid
    join account b on b.id = l.account_id;
  end if;
  with charged as (
    insert into ledger (at, request_id, account_id, key_id, person_id, model, client_id, input_tokens, output_tokens,
        input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, milliseconds,
        cached_tokens, cache_write_tokens, cached_price, cache_write_price)
      select v_now, c.id, c.account, c.key, c.person, c.model, c.client, c.input, c.output, c.input_price,
        c.output_price, c.cost, c.stop, c.source, c.uncharged_input, c.uncharged_output, c.milliseconds,
        coalesce(c.cached, 0), coalesce(c.cache_write, 0), c.cached_price, c.cache_write_price
      from unnest(v_charges) c
  ), counted as (
    insert into usage_day as u
        (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, cost)
      select (v_now at time zone 'UTC')::date, c.account, c.key, c.person, c.model, c.client, count(*), sum(c.input),
        sum(c.output), sum(coalesce(c.cached, 0)), sum(coalesce(c.cache_write, 0)), sum(c.cost)
      from unnest(v_charges) c group by c.account, c.key, c.person, c.model, c.client
    on conflict (account_id, day, key_id, person_id, model, client_id) do update set
      requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
      cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens, cost = u.cost + excluded.cost
  ), holding as (
    insert into hold (id, account_id, key_id, person_id, instance_id, model, client_id, input_tokens, max_output_tokens,
        input_price, output_price, cost, idempotency_key, created_at, cached_price, cache_write_price)
      select h.id, h.account_id, h.key_id, h.person_id, h.instance_id, h.model, h.client_id, h.input_tokens,
        h.max_output_tokens, h.input_price, h.output_price, h.cost, h.idempotency_key, h.created_at,
        h.cached_price, h.cache_write_price
      from unnest(v_holds) h
  )
  update account set charged = account.charged + t.charged, held = account.held + t.held,
    month = v_month, month_charged = t.month_before + t.charged, request_level = t.request_level,
    token_level = t.token_level, level_at = v_now
  from unnest(v_accounts) t where account.id = t.id;
end $$;

-- As in 0016_usage.sql, but with four kinds of tokens, and how long each request took in its charge.
drop function exchange_timed(uuid, bigint, account_report[], charge[], integer[], timestamptz);
create function exchange_timed(p_instance uuid, p_batch bigint, p_reports account_report[], p_charges timed_charge[],
  p_now timestamptz default null)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set jit = off
set search_path from current
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  v_month date;
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % was reaped, or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;
  perform from account where account.id in (select account from unnest(p_reports))
    order by account.id for no key update;
  v_now := coalesce(p_now, clock_timestamp());
  v_month := date_trunc('month', v_now at time zone 'UTC')::date;

  return query
  with report as materialized (
    select e.account, e.charged, e.held, e.credit, e.requests, e.tokens, e.at_hand, e.cost, e.need, e.more_credit,
      e.more_requests, e.more_tokens, had.held as had_held, had.credit as had_credit, had.requests as had_requests,
      had.tokens as had_tokens,
      m.charged_before,
      coalesce(b.monthly_limit - m.charged_before, b.credited - b.charged)
        - b.held - b.credit_lent - e.charged as room,
      b.status = 'open' and coalesce(b.recalled_at not between v_now - interval '2 seconds' and v_now, true) as may,
      greatest(0, least(b.requests_per_minute * c_unit - b.requests_lent + coalesce(had.requests, 0)
        - e.requests * c_unit,
        least(greatest(0, b.requests_per_minute * c_unit - b.requests_lent),
          b.request_level + b.requests_per_minute * passed) + e.requests_back * c_unit)) as r_left,
      greatest(0, least(b.tokens_per_minute * c_unit - b.tokens_lent + coalesce(had.tokens, 0) - e.tokens * c_unit,
        least(greatest(0, b.tokens_per_minute * c_unit - b.tokens_lent),
          b.token_level + b.tokens_per_minute * passed) + e.tokens_back * c_unit)) as t_left
    from unnest(p_reports) e
    join account b on b.id = e.account
    left join allowance had on had.instance_id = p_instance and had.account_id = e.account,
    lateral (select least(60000000, greatest(0, date_part('epoch', v_now - b.level_at) * 1000000))::bigint as passed) p,
    lateral (select case when b.month = v_month then b.month_charged else charged_since(b.id, v_month) end
      as charged_before) m
  ), decided as materialized (
    select account, charged, held, charged_before, r_left, t_left, had_held, had_credit, had_requests, had_tokens,
      granted, more_requests, more_tokens,
      credit + case when granted then more_credit else 0 end as credit,
      case when granted then at_hand else requests end * c_unit as requests,
      case when granted then at_hand * need else tokens end * c_unit as tokens
    from report, lateral (select at_hand > 0 and may and r_left >= 100 * at_hand * c_unit
      and t_left >= 100::numeric * at_hand * need * c_unit and room >= 100 * at_hand * cost as granted offset 0) g
  ), written as (
    insert into allowance as a (instance_id, account_id, held, credit, requests, tokens)
      select p_instance, account, held, credit, requests, tokens from decided
      where (held, credit, requests, tokens) is distinct from (had_held, had_credit, had_requests, had_tokens)
    on conflict (instance_id, account_id) do update
      set held = excluded.held, credit = excluded.credit, requests = excluded.requests, tokens = excluded.tokens
  ), charged as (
    insert into ledger (at, request_id, account_id, key_id, person_id, model, client_id, input_tokens, output_tokens,
        input_price, output_price, cost, stop_reason, usage_source, uncharged_input, uncharged_output, milliseconds,
        cached_tokens, cache_write_tokens, cached_price, cache_write_price)
      select v_now, c.id, c.account, c.key, c.person, c.model, c.client, c.input, c.output, c.input_price,
        c.output_price, c.cost, c.stop, c.source, c.uncharged_input, c.uncharged_output, c.milliseconds,
        coalesce(c.cached, 0), coalesce(c.cache_write, 0), c.cached_price, c.cache_write_price
      from unnest(p_charges) c
  ), counted as (
    insert into usage_day as u
        (day, account_id, key_id, person_id, model, client_id, requests, input_tokens, output_tokens, cached_tokens,
        cache_write_tokens, cost)
      select (v_now at time zone 'UTC')::date, c.account, c.key, c.person, c.model, c.client, count(*), sum(c.input),
        sum(c.output), sum(coalesce(c.cached, 0)), sum(coalesce(c.cache_write, 0)), sum(c.cost)
      from unnest(p_charges) c group by c.account, c.key, c.person, c.model, c.client
    on conflict (account_id, day, key_id, person_id, model, client_id) do update set
      requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
      output_tokens = u.output_tokens + excluded.output_tokens, cached_tokens = u.cached_tokens + excluded.cached_tokens,
      cache_write_tokens = u.cache_write_tokens + excluded.cache_write_tokens, cost = u.cost + excluded.cost
  )
  update account b set charged = b.charged + d.charged, held = b.held - coalesce(d.had_held, 0) + d.held,
    credit_lent = b.credit_lent - coalesce(d.had_credit, 0) + d.credit,
    month = v_month, month_charged = d.charged_before + d.charged,
    requests_lent = b.requests_lent - coalesce(d.had_requests, 0) + d.requests,
    tokens_lent = b.tokens_lent - coalesce(d.had_tokens, 0) + d.tokens,
    request_level = d.r_left - case when d.granted then d.more_requests * c_unit else 0 end,
    token_level = d.t_left - case when d.granted then d.more_tokens * c_unit else 0 end,
    level_at = v_now
  from decided d where b.id = d.account
  returning b.id, d.granted, b.request_level, b.token_level, b.requests_per_minute, b.tokens_per_minute;
end $$;

-- What instances of version 0.2.0 call.
create or replace function exchange(p_instance uuid, p_batch bigint, p_reports account_report[], p_charges charge[],
  p_now timestamptz default null)
returns table (id uuid, granted boolean, request_level bigint, token_level bigint, requests_per_minute per_minute,
               tokens_per_minute per_minute)
language sql
set search_path from current
as $$
  select * from exchange_timed(p_instance, p_batch, p_reports,
    array(select row(c.*, null, null, null, null, null)::timed_charge from unnest(p_charges) c), p_now)
$$;

-- As in 0007_seals.sql, but with the two further kinds of tokens, which change nothing where there are none: the checksums in
-- earlier seals stay valid.
drop function usage_checksum(bytea, numeric, numeric, numeric, numeric);
create function usage_checksum(p_hash bytea, p_requests numeric, p_input_tokens numeric, p_output_tokens numeric,
  p_cached_tokens numeric, p_cache_write_tokens numeric, p_cost numeric)
returns numeric language sql immutable
return hash_part(p_hash, 0) * p_requests + hash_part(p_hash, 1) * p_input_tokens + hash_part(p_hash, 2) * p_output_tokens
  + hash_part(p_hash, 3) * p_cost + case when p_cached_tokens = 0 and p_cache_write_tokens = 0 then 0
    else hash_part(sha256(p_hash), 0) * p_cached_tokens + hash_part(sha256(p_hash), 1) * p_cache_write_tokens end;

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

-- The checksum of the roll-ups.
create or replace function roll_up_checksum() returns numeric
language sql stable set jit = off set search_path from current as $$
  select coalesce(sum(usage_checksum(hash, requests, input_tokens, output_tokens, cached_tokens, cache_write_tokens, cost)), 0)
  from (
    select usage_hash(account_id, day, key_id, person_id, model, client_id) as hash, requests, input_tokens, output_tokens,
      cached_tokens, cache_write_tokens, cost
    from usage_day offset 0) u
$$;

-- Whoever may see the tokens of a client's charges may see all kinds.
do $$
begin
  execute format('grant select (cached_tokens, cache_write_tokens) on ledger, usage_day to %s, %s',
    portal_role('consultant'), portal_role('partner'));
end $$;
