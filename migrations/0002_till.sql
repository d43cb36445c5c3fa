-- The till: the one place where money is held and charged and where limits are applied.
--
-- One call carries everything that one instance has to settle and to admit, in one transaction. It locks first the
-- instance's row, then the accounts of the batch in id order, then touches anything else; reap() does the same, so
-- that they cannot deadlock. Every item is safe to send again after a lost connection: an admission by the id of its
-- hold, a settlement by the ledger row with that id. tests/support/till-model.ts
-- states the same rules in TypeScript, and a property test holds the two against each other.

-- An account's buckets brought up to p_now, and its month turned if a new one has begun.
create function account_at(a account, p_now timestamptz) returns account language plpgsql immutable as $$
declare
  v_passed bigint := least(60000000, greatest(0, (extract(epoch from p_now - a.level_at) * 1000000)::bigint));
  v_month date := date_trunc('month', p_now at time zone 'UTC')::date;
begin
  a.request_level := least(a.requests_per_minute * 60000000::bigint,
                           a.request_level + v_passed * a.requests_per_minute);
  a.token_level := least(a.tokens_per_minute * 60000000::bigint, a.token_level + v_passed * a.tokens_per_minute);
  a.level_at := greatest(a.level_at, p_now);
  if v_month > a.month then
    a.month := v_month;
    a.month_charged := 0;
  end if;
  return a;
end $$;

-- Settles, then admits, in the order given. p_now is for tests; the till itself leaves it null.
--
-- p_settle: [{hold, input, output, stop, source, headers?, body?}]; without stop the hold is released uncharged.
-- p_admit:  [{hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests}];
--           without model nothing is held: only the requests (0 or 1) are taken from the limit.
-- Outcomes: settled, released, and no row at all where the hold had been given up; admitted, no_billing_account,
--           insufficient_credit, credit_held, requests, tokens, never_fits, replay, in_progress, mismatch.
create function till(p_instance uuid, p_batch bigint, p_settle jsonb, p_admit jsonb, p_now timestamptz default null)
returns table (id uuid, outcome text, request_level bigint, token_level bigint, requests_per_minute integer,
               tokens_per_minute integer, wait_us bigint, cost amount, headers jsonb, body text)
language plpgsql
-- The tables it works on are empty one second and full of dead rows the next: the plan must not depend on that.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  c_unit constant bigint := 60000000;
  v_now timestamptz;
  a account;
  x record;
  i idempotency;
  v_need bigint;
  v_cost numeric;
  v_credit numeric;
  v_holds hold[] := '{}';
  v_touched account[] := '{}';
begin
  update instance set seen_at = clock_timestamp(), last_batch = p_batch
    where instance.id = p_instance and last_batch < p_batch;
  if not found then
    raise exception 'instance % is given up or has sent batch % before', p_instance, p_batch using errcode = 'TG001';
  end if;

  perform 1 from account where account.id in (
    select account_id from hold where hold.id in (select (s ->> 'hold')::uuid from jsonb_array_elements(p_settle) s)
    union all select (s ->> 'account')::uuid from jsonb_array_elements(p_admit) s)
  order by account.id for no key update;
  v_now := coalesce(p_now, clock_timestamp());

  if p_settle <> '[]' then
    -- Settled by an earlier call whose answer was lost on its way.
    return query
    select l.request_id, 'settled', b.request_level, b.token_level, b.requests_per_minute, b.tokens_per_minute,
      null::bigint, l.cost, null::jsonb, null::text
    from jsonb_array_elements(p_settle) s
    join ledger l on l.request_id = (s ->> 'hold')::uuid and l.at > v_now - interval '1 day'
    join account b on b.id = l.account_id
    where not exists (select from hold where hold.id = (s ->> 'hold')::uuid);

    return query
    with asked as (
      select * from jsonb_to_recordset(p_settle) as s(
        hold uuid, input integer, output integer, stop text, source text, headers jsonb, body text)
    ), gone as (
      delete from hold using asked where hold.id = asked.hold
      returning hold.*, asked.stop, asked.source, asked.headers, asked.body,
        case when asked.stop is null then 0 else asked.input end as input,
        case when asked.stop is null then 0 else asked.output end as output,
        case when asked.stop is null then 0
          else asked.input::numeric * input_price + asked.output::numeric * output_price end as charge
    ), written as (
      insert into ledger
        select v_now, gone.id, account_id, key_id, model, client_id, input, output, input_price, output_price, charge,
          stop, source
        from gone where stop is not null
    ), rolled as (
      insert into usage_day as u
        select (v_now at time zone 'UTC')::date, account_id, key_id, model, client_id, count(*), sum(input),
          sum(output), sum(charge)
        from gone where stop is not null
        group by account_id, key_id, model, client_id
      on conflict (account_id, day, key_id, model, client_id) do update set
        requests = u.requests + excluded.requests, input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens, cost = u.cost + excluded.cost
    ), answered as (
      update idempotency set headers = gone.headers, body = gone.body
      from gone where idempotency.account_id = gone.account_id and idempotency.key = gone.idempotency_key
        and hold_id = gone.id and gone.body is not null
    ), forgotten as (
      delete from idempotency using gone
      where idempotency.account_id = gone.account_id and idempotency.key = gone.idempotency_key
        and hold_id = gone.id and gone.body is null
    ), returned as (
      select account_id, sum(charge) as charge, sum(gone.cost) as held,
        sum(gone.input_tokens::bigint + max_output_tokens - input - output) * c_unit as tokens
      from gone group by account_id
    ), paid as (
      update account set charged = n.charged + r.charge, held = n.held - r.held, month = n.month,
        month_charged = n.month_charged + r.charge, request_level = n.request_level, level_at = n.level_at,
        token_level = greatest(0, least(n.tokens_per_minute * c_unit, n.token_level + r.tokens))
      from returned r join account b on b.id = r.account_id, lateral account_at(b, v_now) n
      where account.id = r.account_id
      returning account.*
    )
    select gone.id, case when gone.stop is null then 'released' else 'settled' end, paid.request_level,
      paid.token_level, paid.requests_per_minute, paid.tokens_per_minute, null::bigint, gone.charge::amount,
      null::jsonb, null::text
    from gone join paid on paid.id = gone.account_id;
  end if;

  -- The rules, request by request in the order given within each account. The loop decides in memory; but for
  -- idempotency keys, what it decided is written after it by two statements.
  for x in
    select s.*, now_account, earlier.id is not null as held_already
    from rows from (jsonb_to_recordset(p_admit) as (
      hold uuid, account uuid, key uuid, model text, client uuid, input integer, output integer, input_price bigint,
      output_price bigint, idem text, hash text, requests integer)) with ordinality as s(
      hold, account, key, model, client, input, output, input_price, output_price, idem, hash, requests, n)
    left join account b on b.id = s.account
    left join lateral account_at(b, v_now) now_account on true
    left join hold earlier on earlier.id = s.hold
    order by s.account, s.n
  loop
    if a.id is distinct from x.account then
      if a.id is not null then v_touched := v_touched || a; end if;
      a := x.now_account;
      v_credit := coalesce(a.monthly_limit - a.month_charged, a.credited - a.charged);
    end if;
    v_need := (x.input::bigint + x.output) * c_unit;
    v_cost := x.input::numeric * x.input_price + x.output::numeric * x.output_price;
    if x.idem is not null then
      select * into i from idempotency
        where account_id = x.account and key = x.idem and created_at > v_now - interval '24 hours';
    else
      i := null;
    end if;
    id := x.hold;
    cost := v_cost;
    wait_us := null;
    outcome := case
      when a.id is null or a.status <> 'open' then 'no_billing_account'
      when x.held_already then 'admitted' -- by an earlier call whose answer was lost on its way
      when i.request_hash <> x.hash then 'mismatch'
      when i.body is not null then 'replay'
      when i.hold_id is not null then 'in_progress'
      when v_need > a.tokens_per_minute * c_unit then 'never_fits'
      when v_cost > v_credit then 'insufficient_credit'
      when v_cost > v_credit - a.held then 'credit_held'
      when a.request_level < x.requests * c_unit then 'requests'
      when a.token_level < v_need then 'tokens'
      else 'admitted'
    end;
    headers := case when outcome = 'replay' then i.headers end;
    body := case when outcome = 'replay' then i.body end;
    if outcome in ('requests', 'tokens') then
      -- Until neither limit refuses it.
      wait_us := greatest(ceil((x.requests * c_unit - a.request_level)::numeric / a.requests_per_minute),
                          ceil((v_need - a.token_level)::numeric / a.tokens_per_minute));
    elsif outcome = 'admitted' and not x.held_already then
      a.request_level := a.request_level - x.requests * c_unit;
      a.token_level := a.token_level - v_need;
      if x.model is not null then
        a.held := a.held + v_cost;
        v_holds := v_holds || row(x.hold, x.account, x.key, p_instance, x.model, x.client, x.input, x.output,
          x.input_price, x.output_price, v_cost, x.idem, v_now)::hold;
      end if;
      if x.idem is not null then
        insert into idempotency values (x.account, x.idem, x.hash, x.hold, v_now)
        on conflict (account_id, key) do update set request_hash = excluded.request_hash,
          hold_id = excluded.hold_id, created_at = excluded.created_at, headers = null, body = null;
      end if;
    end if;
    request_level := a.request_level;
    token_level := a.token_level;
    requests_per_minute := a.requests_per_minute;
    tokens_per_minute := a.tokens_per_minute;
    return next;
  end loop;

  if a.id is not null then v_touched := v_touched || a; end if;
  insert into hold select * from unnest(v_holds);
  update account set request_level = t.request_level, token_level = t.token_level, level_at = t.level_at,
    month = t.month, month_charged = t.month_charged, held = t.held
  from unnest(v_touched) t where account.id = t.id;
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
